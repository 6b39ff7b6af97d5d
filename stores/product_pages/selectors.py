"""Actors, products and EDDM selections of a product's page, as the API would show them to the chosen actor."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat, Lower
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller, usable_in_mode
from accounts.models import Role, User
from accounts.permissions import STORE_GRANTS
from applications.registration.selectors.applications import MYSELF, Requester, actors_of, own_applications
from delivery.selection.models import EddmSelection
from delivery.selection.selectors.selections import own_selections
from fulfillment.core.errors import Conflict, Forbidden, NotFound
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import parse_uuid
from stores.catalog.models import Product, Store, TemplateField
from stores.catalog.selectors.products import product_body
from stores.orders.models import RECIPIENT_FIELDS, Order, OrderItem
from stores.orders.selectors.approvals import requests_of
from stores.orders.selectors.orders import own_orders_access
from stores.proofs.selectors import ProductVersion, authorized_store_id, product_version
from stores.templates.selectors import layout_of

MAX_LISTED = 10
# Words of one search.
MAX_WORDS = 12


def usable_stores(user: User) -> QuerySet[Store]:
    """The stores the user, or one of the user's applications, may order from; the demo store first."""
    stores = Store.objects.defer("rendering", "verbose_rendering").order_by("-is_demo", "company_name", "pk")
    if user.is_operator:
        return stores
    own = Role.objects.filter(user=user, store=OuterRef("pk"))
    associated = Role.objects.filter(
        store=OuterRef("pk"), user__isnull=True, application__in=own_applications(user).values("pk")
    )
    if Role.objects.filter(
        user=user, store__isnull=True, application__isnull=True, grant__in=STORE_GRANTS
    ).exists():
        return stores
    return stores.filter(Q(is_demo=True) | Exists(own) | Exists(associated))


def actors_at(user: User, store: Store) -> list[Requester]:
    """The actors that may use the products of the store for this user; raises Forbidden if there are none."""
    applications = own_applications(user)
    if not store.is_demo:
        associated = Role.objects.filter(store=store, user__isnull=True, application__isnull=False)
        applications = applications.filter(pk__in=associated.values("application"))
    myself, *actors = actors_of(user, applications)
    try:
        authorized_store_id(myself.caller, store.external_id)
    except Forbidden:
        pass
    else:
        actors.append(myself)
    if not actors:
        raise Forbidden(
            _(
                "None of your applications may use the catalog of %(company_name)s yet. Request access "
                "to it first: under Stores, or on the Stores tab of an application."
            )
            % {"company_name": store.company_name}
        )
    return actors


def store_named(store_id: str) -> Store:
    store = Store.objects.defer("rendering", "verbose_rendering").filter(external_id=store_id).first()
    if store is None:
        raise NotFound(_("There is no store with this ID."))
    return store


@dataclass(frozen=True, slots=True)
class ProductPage:
    """`record` is the verbose body of the API; `shapes` has width by height of the first place of each image field.

    `sizes` has width and height of each page in mm.
    """

    record: dict[str, Any]
    version: ProductVersion
    shapes: dict[str, float] = field(default_factory=dict)
    sizes: list[tuple[float, float]] = field(default_factory=list)
    problem: str = ""

    @property
    def can_be_proofed(self) -> bool:
        return self.version.has_template and not self.problem


def products_on_sale(
    caller: Caller, store_id: str, *, searched: str = "", category: str = ""
) -> QuerySet[Product]:
    """Products in the order of the catalog; each word of the search is in the name, the ID or the category."""
    products = Product.objects.filter(store=authorized_store_id(caller, store_id), is_active=True)
    if category:
        products = products.filter(category=category)
    words = dict.fromkeys(searched.lower().split())
    text = Lower(Concat("name", Value(" "), "external_id", Value(" "), "category"))
    for word in list(words)[:MAX_WORDS]:
        products = products.alias(text=text).filter(text__contains=word)
    return products.order_by("position", "pk")


def categories_of(products: QuerySet[Product]) -> list[str]:
    return sorted(set(products.exclude(category="").values_list("category", flat=True).distinct()))


def product_page(caller: Caller, store_id: str, product_id: str) -> ProductPage:
    record = orjson.loads(product_body(caller, store_id, product_id, verbose=True).content or b"{}")
    version = product_version(caller, store_id, product_id)
    if not version.has_template:
        return ProductPage(record, version)
    try:
        template = layout_of(version.pk, version.version, version.font_names).template
    except Conflict as error:
        return ProductPage(record, version, problem=translated(error.message))
    shapes: dict[str, float] = {}
    for page in template.pages:
        for box in page.boxes:
            if box.kind == "Image" and box.field:
                shapes.setdefault(box.field, box.width / box.height)
    return ProductPage(record, version, shapes, [(page.width, page.height) for page in template.pages])


def values_of_item(user: User, reference: str, product_id: str) -> dict[str, str] | None:
    """The form's values of an order that the user placed, to order again; None if there is none."""
    own = own_orders_access(user)
    placed = own.visible_in(own.stores.values("pk")) | Q(pk__in=requests_of(user).values("pk"))
    if (key := parse_uuid(reference)) is None:
        return None
    orders = Order.objects.filter(placed, pk=key)
    items = OrderItem.objects.filter(order__in=orders, product_external_id=product_id)
    item = items.select_related("order").defer("order__rendering").first()
    if item is None or item.order.recipient_erased:
        return None
    names = TemplateField.objects.filter(product=item.product_id).order_by("position")
    data = item.template_data or {}
    values = {
        f"field-{index}": str(data.get(name, ""))
        for index, name in enumerate(names.values_list("field_name", flat=True))
    }
    recipient = item.order.recipient
    return {
        **values,
        "as": MYSELF,
        "quantity": str(item.quantity),
        "selection": (item.eddm or {}).get("SelectionID", ""),
        "country": recipient["CountryCode"],
        **({"location": recipient["LocationType"]} if recipient.get("LocationType") else {}),
        **{f"to-{name}": recipient.get(name, "") for name in RECIPIENT_FIELDS},
    }


def orderable_selections(caller: Caller, selection_id: str = "") -> list[EddmSelection]:
    """The caller's latest valid selections, and the named one of any age if it is the caller's."""
    valid = (
        EddmSelection.objects.filter(
            own_selections(caller) & usable_in_mode(caller), expires__gt=timezone.now()
        )
        .defer("criteria")
        .order_by("-created")
    )
    latest = list(valid[:MAX_LISTED])
    key = parse_uuid(selection_id)
    if key is not None and all(selection.pk != key for selection in latest):
        latest = [*valid.filter(pk=key), *latest]
    return latest


def find_owner(actors: Iterable[Requester], selection_id: str) -> str:
    """The key of the actor who owns the selection; empty if none of them does."""
    key = parse_uuid(selection_id)
    owners = EddmSelection.objects.filter(pk=key).values_list("application_id", "user_id") if key else []
    for application_id, user_id in owners:
        for actor in actors:
            caller = actor.caller
            if (caller.application_id, caller.user_id) == (application_id, user_id):
                return actor.key
    return ""
