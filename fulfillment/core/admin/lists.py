"""Lists of the console: counted up to a limit, and read by their own filters alone."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.admin import FieldListFilter, ShowFacets
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.formats import number_format
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from fulfillment.core.admin.search import apply_search

# An action works within one request; more records would exceed its time limit.
MAX_AT_ONCE = 1000
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
    """Refuses lookups that no filter of the list declares: Django would allow every local field, which can be slow or
    fail.

    The message names the filter or page. Django then redirects to the list without filters.
    """

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """A form sends an empty value for each filter that is left open."""
        lookups: dict[str, Any] = super().get_filters_params(params)
        return {name: values for name, values in lookups.items() if values not in ("", [""])}

    def get_filters(self, request: HttpRequest) -> Any:
        try:
            list_filters = super().get_filters(request)
        except (DisallowedModelAdminLookup, *REFUSALS) as fault:
            raise IncorrectLookupParameters(
                _("This list has no such filter, or not with this value.")
            ) from fault
        filters, _has_filters, unread_lookups, *_rest = list_filters
        for name in unread_lookups:
            raise IncorrectLookupParameters(
                _("This list has no filter “%(name)s”.") % {"name": name[:MAX_SHOWN]}
            )
        for list_filter in filters:
            list_filter.queryset = partial(_apply_filter, list_filter, list_filter.queryset)
        return list_filters

    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except IncorrectLookupParameters as fault:
            page = request.GET.get(PAGE_VAR, "")[:MAX_SHOWN]
            raise IncorrectLookupParameters(
                _("This list has no page “%(page)s”.") % {"page": page}
            ) from fault


class ListAdmin(ModelAdmin):
    """Shows a `ConsoleList`, which stays fast on large tables."""

    paginator = BoundedPaginator
    list_per_page = 25
    list_max_show_all = 0
    show_full_result_count = False
    # Each facet counts the whole table once more.
    show_facets = ShowFacets.NEVER
    # The name of the list in the menu and in its head, if it is not the plural of the model.
    plural_name = ""
    # A hint for an empty list.
    empty_help = ""
    # The text of the button that adds a record; "Add" and the name of the model if empty.
    add_label = ""
    # A template with links beside the search.
    list_tools_template = ""
    # Columns that an index searches for the whole text, with their type: {"number": int, "external_id": str}. With
    # these, `search_fields` only says that there is a search.
    exact_search: Mapping[str, Any] = {}

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[ConsoleList]:
        return ConsoleList

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        try:
            changelist = super().get_changelist_instance(request)
        except IncorrectLookupParameters as fault:
            messages.warning(request, _("%(fault)s All records are shown.") % {"fault": fault})
            raise
        changelist.title = capfirst(self.plural_name or self.opts.verbose_name_plural)
        return changelist

    def response_action(self, request: HttpRequest, queryset: QuerySet) -> HttpResponseBase | None:
        """Refuses keys of another kind than the list's, and more records than one request can work through."""
        try:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.to_python(key)
        except ValidationError:
            messages.warning(
                request, _("The selection does not belong to this list. Nothing was changed; select again.")
            )
            return None
        if request.POST.get("select_across") == "1" and queryset[: MAX_AT_ONCE + 1].count() > MAX_AT_ONCE:
            messages.error(
                request,
                _("At most %(max_at_once)s at once. Filter the list, or select fewer.")
                % {"max_at_once": number_format(MAX_AT_ONCE, force_grouping=True)},
            )
            return None
        response: HttpResponseBase | None = super().response_action(request, queryset)
        return response

    def get_search_results(
        self, request: HttpRequest, records: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        if not search_term.strip():
            return records, False
        if not self.exact_search:
            return apply_search(records, self.get_search_fields(request), search_term), False
        condition = Q(pk__in=())
        for lookup, kind in self.exact_search.items():
            with suppress(ValueError, OverflowError):
                condition |= Q(**{lookup: kind(search_term.strip())})
        return records.filter(condition), False


def _apply_filter(
    list_filter: Any, apply: Callable[..., Any], request: HttpRequest, records: QuerySet
) -> Any:
    has_field = isinstance(list_filter, FieldListFilter)
    choices = list_filter.field.flatchoices if has_field else getattr(list_filter, "lookup_choices", ())
    allowed_values = {str(key) for key, _label in choices}
    try:
        if allowed_values and not allowed_values.issuperset(map(str, _submitted_values(list_filter))):
            raise IncorrectLookupParameters
        return apply(request, records)
    except REFUSALS as fault:
        raise IncorrectLookupParameters(
            _("The filter “%(name)s” does not know this value.") % {"name": list_filter.title}
        ) from fault


def _submitted_values(list_filter: Any) -> Iterable[Any]:
    """The values that were sent for one of its choices; a list where a parameter may be repeated."""
    name = getattr(list_filter, "lookup_kwarg", "") or getattr(list_filter, "parameter_name", "")
    values = list_filter.used_parameters.get(name, [])
    return values if isinstance(values, list) else [values]
