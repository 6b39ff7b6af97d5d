"""A user's personal data in all apps: export as a ZIP file of JSON, and erasure."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from django.contrib.auth import get_user_model
from django.utils import timezone

from fulfillment.core.audit.personal_data import ErasureOptions, PersonalData
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.plugins import offered_values
from fulfillment.core.text import JsonObject

NOTHING_MORE = ErasureOptions()


def data_providers() -> list[PersonalData]:
    """The providers in reverse order of apps: accounts is last, because the others search by the user's names."""
    return [kind for kinds in reversed(offered_values("operations", "personal_data")) for kind in kinds()]


def find_user(text: str) -> Any:
    """Finds the user; raises NotFound, and Conflict if several match."""
    [find] = offered_values("operations", "find_user")
    return find(text)


def export_user_data(*, user: Any) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for kind in data_providers():
            info = zipfile.ZipInfo(f"{kind.name}.json", timezone.now().timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as file:
                file.writelines(_json_pieces(kind.records(user)))
    return packed.getvalue()


def _json_pieces(records: Iterable[JsonObject]) -> Iterator[bytes]:
    """Yields a JSON array record by record, because a user may have millions."""
    before = b"[\n"
    for record in records:
        yield before + orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z, default=str)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def erase_user(*, user: Any, options: ErasureOptions = NOTHING_MORE) -> list[str]:
    """Erases a user's personal data; the anonymous row stays for references. Returns messages on what is left to do.

    Apps may refuse by raising Conflict in `begin_erasure` of their module `operations`, and continue after the
    transaction in `finish_erasure`.
    """
    with long_transaction():
        locked = get_user_model().objects.select_for_update(of=("self",)).get(pk=user.pk)
        for begin in offered_values("operations", "begin_erasure"):
            begin(locked, options)
        for kind in data_providers():
            kind.erase(locked)
    return [
        line for finish in offered_values("operations", "finish_erasure") for line in finish(locked, options)
    ]
