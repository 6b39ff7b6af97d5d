"""Which stores a caller sees, and their stored renderings, each in one prepared statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from accounts.callers import Caller
from accounts.permissions import STORE_GRANTS
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import DomainError, Invalid

# A user's role counts on the store, or over everything where it names something of stores at all.
STORE_GRANT_LIST = "ARRAY[" + ", ".join(f"'{name}'" for name in sorted(STORE_GRANTS)) + "]"
USER_RELATED = f"""EXISTS (
    SELECT FROM accounts_role role
    WHERE role.user_id = asked.user_id
      AND (role.store_id = store.id OR (
          role.store_id IS NULL AND role.application_id IS NULL AND role.grant = ANY({STORE_GRANT_LIST})))
)"""
ASSOCIATED = """EXISTS (
    SELECT FROM accounts_role role
    WHERE role.application_id = asked.application_id AND role.store_id = store.id AND role.user_id IS NULL
)"""
# Without a user the application is judged, without an application the user, with both both.
VISIBLE = f"""(
    store.is_demo OR asked.everything
    OR ((asked.user_id IS NOT NULL OR asked.application_id IS NOT NULL)
        AND (asked.user_id IS NULL OR {USER_RELATED})
        AND (asked.application_id IS NULL OR {ASSOCIATED}))
)"""

ASKED = """WITH asked AS (
    SELECT %s::boolean AS everything, %s::uuid AS user_id, %s::uuid AS application_id,
           string_to_array(%s, E'\\n') AS known_tags
)"""

# `seen` is read once: the tag and the body come from the same rows.
STORE_LIST = """{asked}, seen AS MATERIALIZED (
    SELECT '[' || coalesce(string_agg(store.{rendering}, ',' ORDER BY store.company_name, store.id), '') || ']' AS body
    FROM stores_store store, asked
    WHERE {visible}
)
SELECT md5(body), CASE WHEN md5(body) = ANY(asked.known_tags) THEN NULL ELSE convert_to(body, 'UTF8') END
FROM seen, asked
"""
STORE_DETAIL = f"""{ASKED}
SELECT md5(store.rendering),
       CASE WHEN md5(store.rendering) = ANY(asked.known_tags) THEN NULL ELSE convert_to(store.rendering, 'UTF8') END
FROM stores_store store, asked
WHERE store.external_id = %s AND {VISIBLE}
"""  # noqa: S608 - constant texts only
RENDERINGS = {False: "rendering", True: "verbose_rendering"}
STORE_LISTS = {
    verbose: STORE_LIST.format(asked=ASKED, visible=VISIBLE, rendering=name)
    for verbose, name in RENDERINGS.items()
}


class StoreNotVisible(DomainError):
    """The contract's "401 invalid store": unknown and invisible stores are told apart by nothing."""

    status = 401
    code = "store_invalid"
    title = "Credentials missing or invalid"


@dataclass(frozen=True, slots=True)
class StoredBody:
    """A finished JSON body with its tag; no content where the client holds this version already."""

    tag: str
    content: bytes | None


def store_list_body(caller: Caller, *, verbose: bool, known_tags: Sequence[str] = ()) -> StoredBody:
    row = fetch_row(STORE_LISTS[verbose], visibility(caller, known_tags))
    return StoredBody(*(row or ("", b"[]")))


def store_body(caller: Caller, store_id: str, *, known_tags: Sequence[str] = ()) -> StoredBody:
    row = fetch_row(STORE_DETAIL, (*visibility(caller, known_tags), store_id))
    if row is None:
        raise StoreNotVisible("There is no store with this ID that these credentials open.")
    return StoredBody(*row)


def visibility(caller: Caller, known_tags: Sequence[str]) -> tuple[Any, ...]:
    """What ASKED takes: the user is judged, and the application unless it is a part of this service."""
    application_id = caller.application_id if caller.is_application else caller.third_party_id
    return caller.is_operator, caller.user_id, application_id, "\n".join(known_tags)


def unknown_store(store_id: str) -> Invalid:
    return Invalid(f"There is no store {store_id!r}.", code="store_invalid")
