from delivery.admin.datasets import DatasetAdmin
from delivery.admin.import_runs import ImportRunAdmin

__all__ = ["DatasetAdmin", "ImportRunAdmin"]
