"""Stores and products in the console's search, and the filters of lists of their records."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet, Subquery
from django.http import HttpRequest
from django.utils.dateparse import parse_date
from django.utils.timezone import make_aware
from django.utils.translation import gettext as _
from unfold.contrib.filters.admin import DropdownFilter, RangeDateFilter
from unfold.contrib.filters.forms import DropdownForm, SearchForm
from unfold.widgets import UnfoldAdminSelectWidget

from accounts.admin.staff import staff_on
from fulfillment.core.admin.search import named_hits
from fulfillment.core.plugins import SearchResult
from stores.catalog.models import Product, Store
from stores.catalog.selectors.stores import MAX_CHOICES, Choices, store_choices


class ValidatedByService(forms.ModelForm):
    """Checks types only. The service checks the rules, because it sees all rows together."""

    def _get_validation_exclusions(self) -> set[str]:
        return {field.name for field in self._meta.model._meta.fields}

    def validate_unique(self) -> None:
        pass


def stores_on(request: HttpRequest, grants: Sequence[str]) -> QuerySet[Store]:
    """The stores whose records the user may see."""
    return staff_on(request).visible(Store.objects.all(), "pk", grants)


class ChoiceForm(DropdownForm):
    """The browser's own list, without the scripts that unfold's needs."""

    widget = UnfoldAdminSelectWidget()

    class Media:
        extend = False


class ChoiceFilter(DropdownFilter):
    """Filters by one of a list of names. A list that is too long is not loaded: the filter then takes an ID."""

    form_class = ChoiceForm

    def has_output(self) -> bool:
        """Always true: else Django would ignore the filter, also in links."""
        return True

    def choices(self, changelist: Any) -> Iterator[Any]:
        if self.lookup_choices:
            return super().choices(changelist)
        label, data = f" By {self.title} (ID) ", {self.parameter_name: self.value()}
        return iter([{"form": SearchForm(name=self.parameter_name, label=label, data=data)}])


class StoreFilter(ChoiceFilter):
    title = "store"
    parameter_name = "store"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        choices = store_choices(stores_on(request, model_admin.view_grants))
        return choices if len(choices) <= MAX_CHOICES else []

    def queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet | None:
        if not (store_id := self.value()):
            return None
        # Not by a join, which would keep PostgreSQL from walking along the store's own index.
        return records.filter(store=Subquery(Store.objects.filter(external_id=store_id).values("pk")[:1]))


class ModeFilter(SimpleListFilter):
    """Shows live records by default and test records on request, never both, so that they are not mixed up."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("test", _("Test"))]

    def choices(self, changelist: Any) -> Iterator[Any]:
        every, test = super().choices(changelist)
        yield {**every, "display": _("Live")}
        yield test

    def queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        return records.filter(is_test=self.value() == "test")


class DayFilter(RangeDateFilter):
    """Filters by a range of whole days in the user's time zone."""

    def queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        first, last = (self._day(f"{self.parameter_name}_{end}") for end in ("from", "to"))
        if first:
            records = records.filter(**{f"{self.field_path}__gte": _start_of(first)})
        # The calendar's last day has no day after it; nothing is later anyway.
        if last and last < date.max:
            records = records.filter(**{f"{self.field_path}__lt": _start_of(last + timedelta(days=1))})
        return records

    def _day(self, name: str) -> date | None:
        text = str(self.used_parameters.get(name) or "")
        if (day := parse_date(text)) is None and text:
            raise ValueError(text)
        return day


def _start_of(day: date) -> datetime:
    return make_aware(datetime.combine(day, time.min))


def find_stores(request: HttpRequest, words: str) -> list[SearchResult]:
    fields = ["company_name", "external_id"]
    return named_hits(request, Store, words, fields, lambda store: (store.company_name, store.external_id))


def find_products(request: HttpRequest, words: str) -> list[SearchResult]:
    fields = ["name", "external_id"]
    return named_hits(
        request,
        Product,
        words,
        fields,
        lambda product: (product.name, product.external_id, product.store.company_name),
    )
