"""Batches of a caller, and what they would cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.callers import Caller
from fulfillment.core.errors import NotFound
from fulfillment.core.text import parse_uuid
from stores.batches.models import (
    ORDERABLE,
    SETTLED,
    Batch,
    BatchMode,
    BatchRow,
    BatchStatus,
    ColumnMapping,
    RowState,
)
from stores.batches.row_contents import QUANTITY, RECIPIENT_TARGETS, ROW_KEY
from stores.batches.selectors.callers import caller_of
from stores.batches.selectors.rows import WITH_PROBLEMS
from stores.budgets.selectors.standings import standings_of_caller
from stores.budgets.standings import BudgetDecision, Standing, decision_of, measure
from stores.catalog.models import Product
from stores.orders.selectors.access import STORE_FIELDS, StoreAccess, authorize_store
from stores.orders.selectors.approvals import exceeds_total
from stores.templates.selectors import fields_of, template_digest

TEMPLATE_CHANGED = "The template of the product changed since the check."
# Labels by which columns are matched, beside the names of the targets themselves.
ROW_LABELS = {ROW_KEY: gettext_noop("Row key"), QUANTITY: gettext_noop("Quantity")}
SPACED = {
    "Address1": gettext_noop("Address line 1"),
    "Address2": gettext_noop("Address line 2"),
    "PostalCode": gettext_noop("ZIP code"),
    "CountryCode": gettext_noop("Country"),
    "LocationType": gettext_noop("Location type"),
}


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows are in each state, and what those that can be ordered cost."""

    by_state: Mapping[str, int]
    total: Decimal
    pieces: int

    @property
    def rows(self) -> int:
        return sum(self.by_state.values())

    @property
    def pending(self) -> int:
        return self.by_state.get(RowState.PENDING, 0)

    @property
    def checked(self) -> int:
        return self.rows - self.pending

    @property
    def errors(self) -> int:
        return self.by_state.get(RowState.ERROR, 0)

    @property
    def with_problems(self) -> int:
        return sum(self.by_state.get(state, 0) for state in WITH_PROBLEMS)

    @property
    def orderable(self) -> int:
        return sum(self.by_state.get(state, 0) for state in ORDERABLE)


def batch_for(
    caller: Caller, store_id: str, batch_id: str, permissions: tuple[str, ...]
) -> tuple[StoreAccess, Batch]:
    access = authorize_store(caller, store_id, permissions)
    return access, find_batch(access, batch_id)


def find_batch(access: StoreAccess, batch_id: str) -> Batch:
    """A batch visible to the caller."""
    key = parse_uuid(batch_id)
    batch = shown_batches().filter(access.visible, pk=key).first() if key else None
    if batch is None:
        raise NotFound(_("There is no batch with this BatchID for this caller."), code="batch_not_found")
    return batch


def shown_batches() -> QuerySet[Batch]:
    """Batches with what a batch's record and its caller need."""
    people = ("user", "application__user")
    return Batch.objects.select_related("store", "product", "approval", *people).only(
        *(field.attname for field in Batch._meta.concrete_fields),
        *(f"{person}__{name}" for person in people for name in ("email_confirmed", "counted_on")),
        *(f"store__{name}" for name in STORE_FIELDS),
        "product__external_id",
        "product__name",
        "product__version",
        "product__width_mm",
        "product__default_quantity",
        *(
            f"approval__{field.attname}"
            for field in Batch.approval.related.related_model._meta.concrete_fields
        ),
    )


def search_condition(words: str) -> Q:
    """Batches with these words in their name or that of their product, or with this BatchID."""
    products = Product.objects.filter(name__icontains=words.strip()).values("pk")
    condition = Q(name__icontains=words.strip()) | Q(product__in=products)
    key = parse_uuid(words.strip())
    return condition | Q(pk=key) if key else condition


def open_batches(caller: Caller) -> QuerySet[Batch]:
    """The caller's batches whose rows are kept until they are ordered."""
    own = {"user": caller.user_id, "application": caller.application_id}
    return Batch.objects.filter(**own).exclude(status__in=SETTLED)


def owner_fields(batch: Batch) -> dict[str, Any]:
    return {"store": batch.store, "application_id": batch.application_id, "user_id": batch.user_id}


def kept_mappings(batch: Batch) -> QuerySet[ColumnMapping]:
    """The mappings that the batch's caller keeps under names."""
    return ColumnMapping.objects.filter(**owner_fields(batch))


def counts_of(batch: Batch) -> Counts:
    return counts_of_batches([batch])[batch.pk]


def counts_of_batches(batches: Iterable[Batch]) -> dict[UUID, Counts]:
    """The counts of each batch, in one statement along the index of counts."""
    groups_by_batch: dict[UUID, list[Mapping[str, Any]]] = {batch.pk: [] for batch in batches}
    states = BatchRow.objects.filter(batch__in=groups_by_batch).order_by().values("batch_id", "state")
    for group in states.annotate(count=Count("*"), total=Sum("total"), pieces=Sum("quantity")):
        groups_by_batch[group["batch_id"]].append(group)
    return {key: _count_groups(groups) for key, groups in groups_by_batch.items()}


def _count_groups(groups: Sequence[Mapping[str, Any]]) -> Counts:
    counted = [group for group in groups if group["state"] in (*ORDERABLE, RowState.ORDERED)]
    return Counts(
        {group["state"]: group["count"] for group in groups},
        sum((group["total"] for group in counted), Decimal("0.00")),
        sum(group["pieces"] for group in counted),
    )


def seconds_left(batch: Batch, counts: Counts) -> int | None:
    """An estimate by what the check has done so far; None before there is something to go by."""
    checked = counts.checked - batch.checked_before
    if batch.status != BatchStatus.CHECKING or batch.check_started is None or checked <= 0:
        return None
    passed = (timezone.now() - batch.check_started).total_seconds()
    return max(1, round(passed / checked * counts.pending)) if counts.pending else 0


def is_template_changed(batch: Batch) -> bool:
    """Whether other things would be printed than were checked. Other changes of the product are none: prices bind."""
    version = Product.objects.values_list("version", flat=True).get(pk=batch.product_id)
    return version != batch.product_version and template_digest(batch.product_id) != batch.template_digest


def outdated_because(batch: Batch) -> str:
    """Why its finished check no longer holds; empty as long as it does."""
    if batch.status != BatchStatus.CHECKED:
        return ""
    if is_template_changed(batch):
        return TEMPLATE_CHANGED
    is_expired = batch.prices_expire is None or batch.prices_expire <= timezone.now()
    return "The prices of the check are no longer binding." if is_expired else ""


def order_count(batch: Batch, rows: int) -> int:
    """How many orders so many rows are."""
    return rows if batch.mode == BatchMode.RECIPIENTS else min(rows, 1)


def standings_of_batch(batch: Batch) -> list[Standing]:
    return standings_of_caller(caller_of(batch), store=batch.store, moment=timezone.now())


def needs_of_budgets(
    batch: Batch, counts: Counts, standings: Sequence[Standing]
) -> list[tuple[Standing, Decimal]]:
    """Each budget that binds the batch, with what its orders would take from it."""
    orders = order_count(batch, counts.orderable)
    return [
        (standing, measure(standing.budget.type, total=counts.total, quantity=counts.pieces, orders=orders))
        for standing in standings
    ]


def budget_decision(
    batch: Batch, counts: Counts, standings: Sequence[Standing] | None = None
) -> BudgetDecision:
    """What the budgets, and the store's limit for orders without approval, say to the whole batch."""
    decision = decision_of(
        standings_of_batch(batch) if standings is None else standings,
        total=counts.total,
        quantity=counts.pieces,
        orders=order_count(batch, counts.orderable),
    )
    is_free = batch.is_test or batch.store.is_demo
    if decision == BudgetDecision.REFUSED or is_free or not exceeds_total(batch.store, counts.total):
        return decision
    return BudgetDecision.NEEDS_APPROVAL


def target_labels(batch: Batch) -> dict[str, str]:
    """What a column can be, with the label by which columns are matched: first the fields of the template."""
    fields = {field.field_name: field.prompt or field.field_name for field in fields_of(batch.product_id)}
    targets = {**fields, **ROW_LABELS}
    if batch.mode == BatchMode.RECIPIENTS:
        names = {target: target.partition(".")[2] for target in RECIPIENT_TARGETS}
        targets |= {target: SPACED.get(name, name) for target, name in names.items()}
    return targets
