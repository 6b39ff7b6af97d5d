from delivery.datasets.admin.datasets import DatasetAdmin
from delivery.datasets.admin.import_runs import ImportRunAdmin
from delivery.papers.admin import OfficialFormAdmin, PostagePriceAdmin
