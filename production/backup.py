from collections.abc import Iterator

from fulfillment.core.db.prepared import skip_numbers
from production.gang_sheets.models import GangSheet, SheetState


def skip_used_numbers() -> Iterator[str]:
    """A provider may know a sheet that still collects, with other jobs on it: it takes no more."""
    number = skip_numbers("production_gangsheet_id_seq")
    if number is not None:
        GangSheet.objects.filter(state=SheetState.COLLECTING).update(state=SheetState.PLANNED)
        yield f"New gang sheets begin at number G{number}."
