from delivery.datasets.models.dataset import Dataset, DatasetStatus, LiveDataset, Population
from delivery.datasets.models.import_run import ImportProblem, ImportRun, ImportState

__all__ = [
    "Dataset",
    "DatasetStatus",
    "ImportProblem",
    "ImportRun",
    "ImportState",
    "LiveDataset",
    "Population",
]
