"""NumPy and Shapely, which load with their first use: annotations that name them must not be evaluated."""

from typing import TYPE_CHECKING, Any

from fulfillment.core.memory import DeferredModule

__all__ = ["Shapes", "np", "shapely"]

if TYPE_CHECKING:
    import numpy as np
    import shapely

    Shapes = np.ndarray[Any, np.dtype[np.object_]]
else:
    np, shapely, Shapes = DeferredModule("numpy"), DeferredModule("shapely"), Any
