"""What a proof is found again by when a person it may show is to be forgotten: keyed digests of its values.

They tell nothing without a pepper, and only together with the caller who made the proof.
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
NOTE = """
UPDATE stores_proof SET traces = ARRAY(SELECT DISTINCT unnest(coalesce(traces, '{}') || %(traces)s::varchar[]))
WHERE digest = %(digest)s AND NOT coalesce(traces, '{}') @> %(traces)s::varchar[]
"""


def traces_of(caller: Caller, filling: TemplateMerge) -> list[str]:
    """Of every value that was typed or sent, not of choices and of what the store fills in."""
    values = [
        filling.values[field.field_name]
        for field in filling.layout.fields
        if field.type != "Choice"
        and field.sub_type != "Gallery"
        and filling.values[field.field_name] not in {field.default_value, field.org_value}
    ]
    return sorted({digest(text)[:LENGTH] for text in _texts(caller.application_id, caller.user_id, values)})


def note_traces(*, proof: StoredProof, traces: list[str]) -> None:
    """A proof of the same values may be several callers': it keeps the traces of each.

    A proof that was read with all of them costs no statement.
    """
    if not proof.traces.issuperset(traces):
        execute(NOTE, {"digest": proof.digest, "traces": traces})


def proofs_with(
    *, product_id: int, application_id: object, user_id: object, values: Iterable[str], until: datetime
) -> set[str]:
    """Digests of proofs that a caller made of a product by then, with one of the values."""
    wanted = [one[:LENGTH] for text in _texts(application_id, user_id, values) for one in digests(text)]
    tried = Proof.objects.filter(product=product_id, created__lte=until, traces__overlap=wanted)
    return set(tried.values_list("digest", flat=True))


def _texts(application_id: object, user_id: object, values: Iterable[str]) -> list[str]:
    normal = {" ".join(value.split()).casefold() for value in values}
    return [
        f"proof\0{application_id or ''}\0{user_id or ''}\0{value}"
        for value in sorted(normal)
        if len(value) >= SHORTEST_VALUE or not value.isascii()
    ]
