from delivery.datasets.models import (
    Dataset,
    DatasetStatus,
    ImportProblem,
    ImportRun,
    ImportState,
    LiveDataset,
    Population,
)

__all__ = [
    "Dataset",
    "DatasetStatus",
    "ImportProblem",
    "ImportRun",
    "ImportState",
    "LiveDataset",
    "Population",
]
