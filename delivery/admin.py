from delivery.datasets.admin.datasets import DatasetAdmin
from delivery.datasets.admin.import_runs import ImportRunAdmin
from delivery.papers.admin.official_forms import OfficialFormAdmin
from delivery.papers.admin.postage import PostagePriceAdmin

__all__ = ["DatasetAdmin", "ImportRunAdmin", "OfficialFormAdmin", "PostagePriceAdmin"]
