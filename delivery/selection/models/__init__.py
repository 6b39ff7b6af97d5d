from delivery.selection.models.selection import EddmSelection, EddmSelectionRoute

__all__ = ["EddmSelection", "EddmSelectionRoute"]
