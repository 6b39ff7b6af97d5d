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
