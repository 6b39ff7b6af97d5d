"""Lists of the console: counted up to a limit, and read by their own filters alone."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.contrib.admin import FieldListFilter
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.views import ChangeList

COUNTED_ROWS = 10_000
MAX_SHOWN = 40
REFUSALS = (IncorrectLookupParameters, ValidationError, ValueError, OverflowError)


class BoundedPaginator(Paginator):
    """Counts up to a limit, because counting a growing table gets ever slower."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[: COUNTED_ROWS + 1].count())

    @property
    def is_bounded(self) -> bool:
        """Whether there are more rows than counted; a search or filter finds them."""
        return self.count > COUNTED_ROWS


class ConsoleList(ChangeList):
    """Refuses lookups that no filter of the list reads: Django allows each of a local field, costly or failing.

    A refusal says which filter or page it was; Django then leads to the list without any filter.
    """

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """A form sends an empty value for each filter that is left open."""
        found: dict[str, Any] = super().get_filters_params(params)
        return {name: values for name, values in found.items() if values not in ("", [""])}

    def get_filters(self, request: HttpRequest) -> Any:
        try:
            found = super().get_filters(request)
        except (DisallowedModelAdminLookup, *REFUSALS) as fault:
            raise IncorrectLookupParameters(
                "This list has no such filter, or not with this value."
            ) from fault
        filters, _, others, *_ = found
        for name in others:
            raise IncorrectLookupParameters(f"This list has no filter “{name[:MAX_SHOWN]}”.")
        for list_filter in filters:
            list_filter.queryset = partial(_apply, list_filter, list_filter.queryset)
        return found

    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except IncorrectLookupParameters as fault:
            page = request.GET.get(PAGE_VAR, "")[:MAX_SHOWN]
            raise IncorrectLookupParameters(f"This list has no page “{page}”.") from fault


def _apply(one: Any, apply: Callable[..., Any], request: HttpRequest, records: QuerySet) -> Any:
    has_field = isinstance(one, FieldListFilter)
    choices = one.field.flatchoices if has_field else getattr(one, "lookup_choices", ())
    known = {str(key) for key, _ in choices}
    try:
        if known and not known.issuperset(map(str, _values_of(one))):
            raise IncorrectLookupParameters
        return apply(request, records)
    except REFUSALS as fault:
        raise IncorrectLookupParameters(f"The filter “{one.title}” does not know this value.") from fault


def _values_of(one: Any) -> Iterable[Any]:
    """What was sent for one of its choices; a list where a parameter may be repeated."""
    name = getattr(one, "lookup_kwarg", "") or getattr(one, "parameter_name", "")
    sent = one.used_parameters.get(name, [])
    return sent if isinstance(sent, list) else [sent]
