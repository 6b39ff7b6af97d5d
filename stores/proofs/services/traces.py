"""Keyed digests of a proof's values, by which the proofs of an erased person are found.

A digest reveals nothing without the secret key, and depends on the caller who made the proof.
"""

from collections.abc import Iterable
from datetime import datetime

from accounts.callers import Caller
from fulfillment.core.db.prepared import execute
from fulfillment.core.secrets import digest, digests
from stores.proofs.models import Proof
from stores.proofs.selectors.proofs import StoredProof
from stores.proofs.services.merging import TemplateMerge

SHORTEST_VALUE = 3
LENGTH = 24
ADD_TRACES = """
UPDATE stores_proof SET traces = ARRAY(SELECT DISTINCT unnest(coalesce(traces, '{}') || %(traces)s::varchar[]))
WHERE digest = %(digest)s AND NOT coalesce(traces, '{}') @> %(traces)s::varchar[]
"""


def traces_of(caller: Caller, merged: TemplateMerge) -> list[str]:
    """The traces of all values from the caller, but not of choices and the store's defaults."""
    values = [
        merged.values[field.field_name]
        for field in merged.layout.fields
        if field.type != "Choice"
        and field.sub_type != "Gallery"
        and merged.values[field.field_name] not in {field.default_value, field.org_value}
    ]
    return sorted({digest(text)[:LENGTH] for text in _texts(caller.application_id, caller.user_id, values)})


def record_traces(*, proof: StoredProof, traces: list[str]) -> None:
    """Adds traces to the proof: callers that send equal values share it.

    Executes no statement if the proof has all of them already.
    """
    if not proof.traces.issuperset(traces):
        execute(ADD_TRACES, {"digest": proof.digest, "traces": traces})


def find_proofs_by_traces(
    *, product_id: int, application_id: object, user_id: object, values: Iterable[str], until: datetime
) -> set[str]:
    """Digests of proofs that the caller made of a product until a time, with at least one of the values."""
    traces = [one[:LENGTH] for text in _texts(application_id, user_id, values) for one in digests(text)]
    proofs = Proof.objects.filter(product=product_id, created__lte=until, traces__overlap=traces)
    return set(proofs.values_list("digest", flat=True))


def _texts(application_id: object, user_id: object, values: Iterable[str]) -> list[str]:
    normal = {" ".join(value.split()).casefold() for value in values}
    return [
        f"proof\0{application_id or ''}\0{user_id or ''}\0{value}"
        for value in sorted(normal)
        if len(value) >= SHORTEST_VALUE or not value.isascii()
    ]
