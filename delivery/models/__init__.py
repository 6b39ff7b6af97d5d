from delivery.models.dataset import Dataset, DatasetStatus, LiveDataset, Population
from delivery.models.import_run import ImportProblem, ImportRun, ImportState

__all__ = [
    "Dataset",
    "DatasetStatus",
    "ImportProblem",
    "ImportRun",
    "ImportState",
    "LiveDataset",
    "Population",
]
