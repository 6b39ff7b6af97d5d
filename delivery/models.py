from delivery.datasets.models import (
    Area,
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
    "Area",
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
