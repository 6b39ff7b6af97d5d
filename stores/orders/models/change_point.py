from django.db import models

# Numbers that keep the stores apart, and moments below a hundredth, as SQL.
STORE_WIDTH = "2147483648.0::float8"
CHANGE_EPOCH = "'2000-01-01 00:00:00+00'::timestamptz"
CHANGE_SCALE = "1e11::float8"


def change_point(prefix: str = "") -> str:
    """A point for each live order, as SQL: its position along one axis, its last change along the other.

    An index of points finds the first positions with a late change; along an index of two columns every order
    that is not changed would be read up to them. The text is that of the index `order_by_change`: never change it.
    """
    return (
        f"point({prefix}store_id * {STORE_WIDTH} + {prefix}position, "
        f"date_part('epoch', {prefix}updated - {CHANGE_EPOCH}) / {CHANGE_SCALE})"
    )


class ChangePoint(models.Func):
    template = change_point()
