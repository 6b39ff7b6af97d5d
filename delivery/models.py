from delivery.datasets.models import (
    Dataset,
    DatasetStatus,
    ImportProblem,
    ImportRun,
    ImportState,
    LiveDataset,
    Population,
)
from delivery.papers.models import OfficialForm, PostagePrice
from delivery.selection.models import EddmSelection, EddmSelectionRoute

__all__ = [
    "Dataset",
    "DatasetStatus",
    "EddmSelection",
    "EddmSelectionRoute",
    "ImportProblem",
    "ImportRun",
    "ImportState",
    "LiveDataset",
    "OfficialForm",
    "Population",
    "PostagePrice",
]
