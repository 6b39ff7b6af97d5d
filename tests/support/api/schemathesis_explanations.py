"""What Schemathesis takes for a failure and is none: each by a rule with its reason; all else is one.

`counted` has how often each reason was needed.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schemathesis import Case
from schemathesis.core.failures import AcceptedNegativeData, Failure, FailureGroup
from schemathesis.core.jsonschema import make_validator
from schemathesis.core.transport import Response
from schemathesis.openapi.checks import RejectedPositiveData
from schemathesis.specs.openapi.checks import has_only_additional_properties_in_non_body_parameters

counted: Counter[str] = Counter()
# The requests and responses along links.
walked: Counter[tuple[str, int]] = Counter()
CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
# Left out where an item has a selection, whose pieces are counted.
ITEM_QUANTITY = re.compile(r"/Items/[0-9]+/Quantity")


@dataclass(frozen=True)
class Beyond:
    """What a schema cannot say: well-formed requests are refused with these codes of problems or of their faults.

    `holds` checks the value a fault points at, where the code alone says too little.
    """

    reason: str
    codes: frozenset[str]
    holds: Callable[[str, Any], bool] = lambda pointer, value: True


def _holds_nul(pointer: str, value: Any) -> bool:
    return "\\u0000" in json.dumps(value)


def _is_address(pointer: str, value: Any) -> bool:
    return pointer.endswith(("Email", "URL", "Url")) and isinstance(value, str)


def _is_made_up(pointer: str, value: Any) -> bool:
    return pointer in {"/Username", "?after", "?type"}


def _is_whole_float(pointer: str, value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _has_more_decimals(pointer: str, value: Any) -> bool:
    return isinstance(value, float) and round(value, 2) != value


def _is_recipient(pointer: str, value: Any) -> bool:
    return pointer.startswith("/Recipient/") and not value


RULES = (
    Beyond("rows of the mode Items go to one recipient", frozenset({"required"}), _is_recipient),
    Beyond(
        "what it names does not exist, or not for this caller",
        frozenset(
            {
                "store_invalid",
                "application_not_found",
                "product_unknown",
                "order_unknown",
                "key_not_found",
                "postal_code_unknown",
                "route_unknown",
                "eddm_selection_unknown",
                "scope_unknown",
            }
        ),
    ),
    Beyond(
        "the store's records, the quote or another item allow other values",
        frozenset(
            {
                "quote_unknown",
                "quote_mismatch",
                "option_unknown",
                "destination_not_served",
                "delivery_method_unavailable",
                "no_common_delivery_method",
                "production_days_unavailable",
                "too_many_options",
                "quantity_below_minimum",
                "quantity_above_maximum",
                "quantity_not_in_steps",
                "item_key_repeated",
                "test_outcome_unknown",
            }
        ),
    ),
    Beyond("no font can print it", frozenset({"character_not_printable"})),
    Beyond("a format of days has no limits", frozenset({"date_out_of_range"})),
    Beyond(
        "the data that is active counts other routes, or none holds all criteria",
        frozenset({"route_type_not_counted", "selection_empty", "area_too_large", "too_many_routes"}),
    ),
    Beyond(
        "the form of an outline on the map",
        frozenset({"position_invalid", "polygon_not_closed", "polygon_invalid", "polygon_too_many_corners"}),
    ),
    Beyond(
        "what an area or a range needs of its parts together",
        frozenset(
            {
                "area_missing",
                "radius_missing",
                "center_missing",
                "center_invalid",
                "range_empty",
                "range_invalid",
            }
        ),
    ),
    Beyond("an application keeps its mode for ever", frozenset({"is_test_fixed"})),
    Beyond("it has changed since", frozenset({"precondition_failed"})),
    Beyond("it is there already", frozenset({"username_taken", "idempotency_key_reused"})),
    Beyond("a text has no visible character, or a hidden one", frozenset({"blank", "control_character"})),
    Beyond("a NUL in a name or a free value", frozenset({"invalid"}), _holds_nul),
    Beyond("JSON Schema takes 1.0 for an integer", frozenset({"invalid"}), _is_whole_float),
    Beyond(
        "the decimals of an amount: floats are no multiples of 0.01",
        frozenset({"max_digits", "max_decimal_places"}),
        _has_more_decimals,
    ),
    Beyond("the form of an address", frozenset({"invalid"}), _is_address),
    Beyond(
        "the form of an address",
        frozenset({"url_refused", "reply_url_invalid", "invalid_postal_code"}),
    ),
    Beyond("how many values lists with commas come to", frozenset({"too_many_postal_codes"})),
    Beyond("the form of a name or a cursor", frozenset({"invalid", "parameter_invalid"}), _is_made_up),
    Beyond(
        "a password is compared with lists and with the other values",
        frozenset(
            f"password_{why}" for why in ("too_short", "too_common", "too_similar", "entirely_numeric")
        ),
    ),
    Beyond(
        "what a file holds",
        frozenset(
            f"{kind}_{why}"
            for kind in ("asset", "icon")
            for why in ("empty", "unreadable", "one_file", "dimensions", "not_pdf", "damaged", "too_complex")
        ),
    ),
    Beyond(
        "one value depends on another, on the time or on who asks",
        frozenset(
            {
                "end_before_start",
                "grant_unknown",
                "event_type_unknown",
                "name_too_long",
                "since_out_of_range",
                "template_data_not_allowed",
                "quantity_or_selection",
                "quote_or_method",
                "artwork_or_data",
                "product_not_for_eddm",
                "eddm_selection_expired",
            }
        ),
    ),
    Beyond(
        "what another value, or an application, makes required",
        frozenset({"required"}),
        lambda pointer, value: (
            pointer in {"", "/StoreID", "/OptionID", "/QuoteID", "/EventTypes", "/Scope/ID"}
            or ITEM_QUANTITY.fullmatch(pointer) is not None
        ),
    ),
)


def check_response(response: Response, case: Case, sent: Mapping[str, Any], **more: Any) -> None:
    """Raises what no rule explains; `sent` is what the call was made with."""
    try:
        case.validate_response(response, headers=sent["headers"], transport_kwargs=dict(sent), **more)
    except FailureGroup as group:
        unexplained = [
            failure for failure in group.exceptions if not _is_explained(failure, response, case, sent)
        ]
        if unexplained:
            failures = FailureGroup(unexplained)
            failures.add_note(f"{case.operation.label} was answered {response.text[:500]}")
            raise failures from None


def _is_explained(failure: Failure, response: Response, case: Case, sent: Mapping[str, Any]) -> bool:
    reason = None
    if isinstance(failure, RejectedPositiveData):
        reason = _beyond_a_schema(response, case)
    elif isinstance(failure, AcceptedNegativeData):
        reason = _not_wrong_at_all(response, case, sent)
    if reason is not None:
        counted[reason] += 1
    return reason is not None


def _beyond_a_schema(response: Response, case: Case) -> str | None:
    """The reason for the first fault, when there is one for each."""
    if response.status_code == 415 and "image/*" in case.operation.definition.raw["requestBody"]["content"]:
        return "the description names the kinds of pictures in words: generators take one raw body only"
    if response.status_code not in {400, 412, 422}:
        return None
    problem = response.json()
    if problem["Code"] == "invalid_request" and _has_control_character(case.path_parameters):
        return "a control character in the path"
    faults = problem["Errors"] or [{"Pointer": "", "Code": problem["Code"]}]
    reasons = [_reason(fault["Code"], fault["Pointer"], case) for fault in faults]
    return reasons[0] if all(reasons) else None


def _has_control_character(parameters: Mapping[str, Any]) -> bool:
    return any(CONTROL_CHARACTER.search(str(value)) for value in parameters.values())


def _reason(code: str, pointer: str, case: Case) -> str | None:
    value = _value_at(pointer, case)
    return next((rule.reason for rule in RULES if code in rule.codes and rule.holds(pointer, value)), None)


def _value_at(pointer: str, case: Case) -> Any:
    if pointer.startswith("?"):
        return case.query.get(pointer[1:])
    value = case.body
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal():
            value = value[int(name)]
    return value


def _not_wrong_at_all(response: Response, case: Case, sent: Mapping[str, Any]) -> str | None:
    if response.status_code == 413:
        return "refused for its size, a status that Schemathesis does not count among refusals"
    if _is_valid_without_nulls(case):
        return "null stands for what is left out"
    if _is_valid_as_sent(case, sent):
        return "an empty parameter stands for none, or the case's credentials were not the ones sent"
    return None


def _is_valid_without_nulls(case: Case) -> bool:
    body = case.operation.get_body_for_media_type(case.media_type) if case.media_type else None
    if body is None or not isinstance(case.body, dict):
        return False
    validator = make_validator(body.optimized_schema, case.operation.schema.adapter.jsonschema_validator_cls)
    return bool(not validator.is_valid(case.body) and validator.is_valid(_without_nulls(case.body)))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _is_valid_as_sent(case: Case, sent: Mapping[str, Any]) -> bool:
    """Whether nothing is wrong any more but unknown query parameters, which are ignored."""
    headers, query = case.headers, case.query
    case.headers = type(headers)({**headers, **sent["headers"]})
    case.query = {name: value for name, value in query.items() if value != ""}
    try:
        return has_only_additional_properties_in_non_body_parameters(case)
    finally:
        case.headers, case.query = headers, query
