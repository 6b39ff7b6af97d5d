from delivery.datasets.admin.datasets import DatasetAdmin
from delivery.datasets.admin.import_runs import ImportRunAdmin

__all__ = ["DatasetAdmin", "ImportRunAdmin"]
