"""The stores visible to a caller, their stored renderings and their delivery methods."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from accounts.callers import Caller
from accounts.permissions import STORE_GRANTS
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import DomainError, Invalid
from fulfillment.core.text import method_name
from stores.catalog.models import DeliveredPrice, Product, Store

MAX_METHODS = 200
# A user's role counts if it is on the store, or if it is a role over everything with a grant for stores.
STORE_GRANT_LIST = "ARRAY[" + ", ".join(f"'{name}'" for name in sorted(STORE_GRANTS)) + "]"
USER_RELATED = f"""EXISTS (
    SELECT FROM accounts_role role
    WHERE role.user_id = caller.user_id
      AND (role.store_id = store.id OR (
          role.store_id IS NULL AND role.application_id IS NULL AND role.grant = ANY({STORE_GRANT_LIST})))
)"""
ASSOCIATED = """EXISTS (
    SELECT FROM accounts_role role
    WHERE role.application_id = caller.application_id AND role.store_id = store.id AND role.user_id IS NULL
)"""
# Whichever of user and application is given is checked; with both, both must have access.
VISIBLE = f"""(
    store.is_demo OR caller.sees_all
    OR ((caller.user_id IS NOT NULL OR caller.application_id IS NOT NULL)
        AND (caller.user_id IS NULL OR {USER_RELATED})
        AND (caller.application_id IS NULL OR {ASSOCIATED}))
)"""
CALLER = """WITH caller AS (
    SELECT %s::boolean AS sees_all, %s::uuid AS user_id, %s::uuid AS application_id,
           string_to_array(%s, E'\\n') AS client_tags
)"""
# `visible` is read once: the tag and the body come from the same rows.
STORE_LIST = """{caller}, visible AS MATERIALIZED (
    SELECT '[' || coalesce(string_agg(store.{rendering}, ',' ORDER BY store.company_name, store.id), '') || ']' AS body
    FROM stores_store store, caller
    WHERE {visible}
)
SELECT md5(body), CASE WHEN md5(body) = ANY(caller.client_tags) THEN NULL ELSE convert_to(body, 'UTF8') END
FROM visible, caller
"""
# The body is small: its tag is made of it here, and a client that has it already needs no statement of its own.
STORE_DETAIL = f"""{CALLER}
SELECT store.rendering FROM stores_store store, caller WHERE store.external_id = %s AND {VISIBLE}
"""  # noqa: S608 - constant texts only
RENDERINGS = {False: "rendering", True: "verbose_rendering"}
STORE_LISTS = {
    verbose: STORE_LIST.format(caller=CALLER, visible=VISIBLE, rendering=name)
    for verbose, name in RENDERINGS.items()
}
# More choices are no help; a filter then says how to narrow them.
MAX_CHOICES = 200


def known_delivery_methods(stores: QuerySet[Store]) -> list[str]:
    """The codes of products and of prices, sorted."""
    of_products = Product.objects.filter(store__in=stores).values_list("delivery_method")
    of_prices = DeliveredPrice.objects.filter(product__store__in=stores).values_list("delivery_method_code")
    codes = of_products.order_by().union(of_prices.order_by())
    return sorted(code for (code,) in codes[:MAX_METHODS])


class StoreNotVisible(DomainError):
    """The contract's "401 invalid store": the response is the same for unknown and invisible stores."""

    status = 401
    code = "store_invalid"
    title = "Credentials missing or invalid"


@dataclass(frozen=True, slots=True)
class StoredBody:
    """A finished JSON body with its tag; `content` is None if the client has this version already."""

    tag: str
    content: bytes | None


def store_list_body(caller: Caller, *, verbose: bool, client_tags: Sequence[str] = ()) -> StoredBody:
    row = fetch_row(STORE_LISTS[verbose], visibility(caller, client_tags))
    return StoredBody(*(row or ("", b"[]")))


def store_body(caller: Caller, store_id: str) -> StoredBody:
    row = fetch_row(STORE_DETAIL, (*visibility(caller), store_id))
    if row is None:
        raise StoreNotVisible("There is no store with this ID that these credentials can access.")
    content = row[0].encode()
    return StoredBody(hashlib.md5(content, usedforsecurity=False).hexdigest(), content)


def visibility(caller: Caller, client_tags: Sequence[str] = ()) -> tuple[Any, ...]:
    """The parameters of CALLER: the user, and the application unless it is part of this service."""
    application_id = caller.application_id if caller.is_application else caller.third_party_id
    return caller.is_operator, caller.user_id, application_id, "\n".join(client_tags)


def unknown_store(store_id: str) -> Invalid:
    message = f"There is no store {store_id!r}; GET /api/v1/store lists those you can use."
    return Invalid(message, code="store_invalid")


Choices = list[tuple[str, str]]


def store_choices(stores: QuerySet[Store]) -> Choices:
    """Up to MAX_CHOICES + 1 stores."""
    return _distinct_choices(
        stores.order_by("company_name").values_list("external_id", "company_name")[: MAX_CHOICES + 1]
    )


def product_choices(stores: QuerySet[Store]) -> Choices:
    """Up to MAX_CHOICES + 1 products; those of several stores with the same ID are one choice."""
    products = Product.objects.filter(store__in=stores.order_by()).order_by("external_id", "name")
    choices = products.distinct("external_id").values_list("external_id", "name")[: MAX_CHOICES + 1]
    return sorted(_distinct_choices(choices), key=lambda choice: choice[1].casefold())


def delivery_choices(stores: QuerySet[Store]) -> Choices:
    prices = DeliveredPrice.objects.filter(product__store__in=stores.order_by()).order_by()
    codes = prices.values_list("delivery_method_code", flat=True).distinct()[:MAX_CHOICES]
    return [(code, method_name(code)) for code in sorted(codes)]


def _distinct_choices(choices: Iterable[tuple[str, str]]) -> Choices:
    """Equal names have their IDs beside them."""
    choices = list(choices)
    count = Counter(name for _, name in choices)
    return [(key, name if count[name] == 1 else f"{name} ({key})") for key, name in choices]
