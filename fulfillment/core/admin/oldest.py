"""The oldest records and their total, in one query for a whole page."""

from typing import Any

from django.db.models import Func, QuerySet, Subquery
from django.http import HttpRequest

SHOWN = 5


def oldest_of(request: HttpRequest, name: str, records: QuerySet[Any]) -> dict[str, Any]:
    """The total `count` and the first few as `oldest`, cached under `name` during the request."""
    known: dict[str, dict[str, Any]] = request.__dict__.setdefault("oldest_of", {})
    if name not in known:
        # Counted separately, without the joins of the few that are shown: there may be ten thousand records.
        count = Subquery(records.order_by().annotate(count=Func("pk", function="COUNT")).values("count"))
        found = list(records.annotate(count_of_all=count)[:SHOWN])
        known[name] = {"count": found[0].count_of_all if found else 0, "oldest": found}
    return known[name]
