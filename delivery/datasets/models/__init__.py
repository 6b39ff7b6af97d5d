from delivery.datasets.models.dataset import Area, Dataset, DatasetStatus, LiveDataset, Population
from delivery.datasets.models.import_run import ImportProblem, ImportRun, ImportState

__all__ = [
    "Area",
    "Dataset",
    "DatasetStatus",
    "ImportProblem",
    "ImportRun",
    "ImportState",
    "LiveDataset",
    "Population",
]
