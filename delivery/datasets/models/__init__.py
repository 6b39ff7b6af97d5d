from delivery.datasets.models.dataset import (
    Area,
    Dataset,
    DatasetStatus,
    ImportProblem,
    ImportRun,
    ImportState,
    LiveDataset,
    Population,
)

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
