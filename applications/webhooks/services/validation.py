from collections.abc import Mapping, Sequence
from typing import Any

from applications.webhooks.models import PATTERNS, EventType
from applications.webhooks.sending.url_policy import refusal
from fulfillment.core.errors import Fault, raise_faults

MAXIMUM_STORES = 100
LONGEST_STORE_ID = 64


def check_webhook(values: Mapping[str, Any], *, is_new: bool) -> None:
    """Raises Invalid with every fault. May resolve the URL's name: call it outside of any lock."""
    faults = _faults(values)
    if is_new and not values.get("URL"):
        missing = Fault("/URL", "required", "URL: name the https address events go to.")
        faults = [missing, *(fault for fault in faults if fault.pointer != "/URL")]
    raise_faults(faults)


def _faults(values: Mapping[str, Any]) -> list[Fault]:
    """The faults of these members of a request by the rules of webhooks."""
    faults: list[Fault] = []
    if "URL" in values and (reason := refusal(values["URL"])):
        faults.append(Fault("/URL", "url_refused", f"URL: {reason}"))
    if "EventTypes" in values:
        faults += _event_type_faults(values["EventTypes"])
    if "StoreIDs" in values:
        faults += _store_faults(values["StoreIDs"])
    return faults


def _event_type_faults(names: Sequence[str]) -> list[Fault]:
    if not names:
        return [Fault("/EventTypes", "required", "EventTypes: name at least one; * stands for all.")]
    allowed = [*PATTERNS, *EventType.values]
    text = f"allowed: {', '.join(allowed)}."
    return [
        Fault(f"/EventTypes/{index}", "event_type_unknown", f"There is no event type {name[:60]!r}; {text}")
        for index, name in enumerate(names)
        if name not in allowed
    ]


def _store_faults(store_ids: Sequence[str]) -> list[Fault]:
    if len(store_ids) > MAXIMUM_STORES:
        message = f"StoreIDs: at most {MAXIMUM_STORES}; leave them out to hear of every store."
        return [Fault("/StoreIDs", "too_many_stores", message)]
    return [
        Fault(f"/StoreIDs/{index}", "store_invalid", f"A StoreID has 1 to {LONGEST_STORE_ID} characters.")
        for index, store_id in enumerate(store_ids)
        if not 1 <= len(store_id) <= LONGEST_STORE_ID
    ]
