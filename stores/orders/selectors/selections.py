"""The EDDM selections that items name, of those the caller may order."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from django.utils import timezone

from accounts.callers import Caller
from accounts.selectors.modes import in_mode_of_new
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.selectors.selections import visible_selections
from fulfillment.core.identifiers import parse_uuid
from stores.orders.eddm import MAXIMUM_ROUTES, Choice, Record, stored_record
from stores.orders.price_requests import PriceRequest

UNKNOWN = ("eddm_selection_unknown", "there is no such EDDM selection of yours.")


def resolve_selections(caller: Caller, price_request: PriceRequest, *, expired: bool = False) -> PriceRequest:
    """The request with the pieces of each selection as the quantity; `expired` includes these, for earlier quotes."""
    chosen = [item.choice for item in price_request.items if item.choice and item.choice.stored is None]
    if not chosen:
        return price_request
    found = _selections(caller, {choice.selection_id for choice in chosen})
    items = []
    routes = 0
    for item in price_request.items:
        if item.choice is not None and item.choice.stored is None:
            choice = _resolved(item.choice, found, expired=expired)
            routes += choice.selection.route_count if choice.selection else 0
            if routes > MAXIMUM_ROUTES:
                message = (
                    f"all items together have at most {MAXIMUM_ROUTES:,} routes; order this one separately."
                )
                choice = replace(choice, problem=("too_many_routes", message))
            item = replace(item, choice=choice, quantity=choice.pieces)
        items.append(item)
    return replace(price_request, items=tuple(items))


def stored_selections(choices: Iterable[Choice | None]) -> list[Record | None]:
    """The copies that an order stores of its selections, in their order; each selection is read once."""
    records: dict[UUID, Record] = {}
    stored: list[Record | None] = []
    for choice in choices:
        if choice is None or choice.selection is None:
            stored.append(dict(choice.stored) if choice and choice.stored else None)
            continue
        selection = choice.selection
        if selection.pk not in records:
            routes = EddmSelectionRoute.objects.filter(selection=selection).order_by("position")
            records[selection.pk] = stored_record(selection, routes.iterator())
        stored.append(records[selection.pk])
    return stored


def _selections(caller: Caller, selection_ids: Iterable[str]) -> dict[UUID, EddmSelection]:
    keys = {key for text in selection_ids if (key := parse_uuid(text))}
    scope = visible_selections(caller) & in_mode_of_new(caller)
    return EddmSelection.objects.filter(scope).defer("criteria").in_bulk(keys) if keys else {}


def _resolved(choice: Choice, found: Mapping[UUID, EddmSelection], *, expired: bool) -> Choice:
    key = parse_uuid(choice.selection_id)
    selection = found.get(key) if key else None
    if selection is None:
        return replace(choice, problem=UNKNOWN)
    if not expired and selection.expires <= timezone.now():
        message = f"the selection expired at {selection.expires:%Y-%m-%d %H:%M} UTC; make a new one."
        return replace(choice, problem=("eddm_selection_expired", message))
    return replace(choice, pieces=selection.pieces, selection=selection)
