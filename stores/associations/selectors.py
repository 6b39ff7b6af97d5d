"""The directory of stores that accept access requests, with the associations of a user's applications."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import AssociationRequest, AssociationState, Role
from applications.registration.models import Application
from fulfillment.core.errors import NotFound
from stores.catalog.models import Product, Store, StoreProfile

MAX_SEARCH_WORDS = 5


@dataclass(slots=True)
class Listing:
    """`prints` are categories, the largest first; the other two are names of the person's applications."""

    store: Store
    prints: list[str] = field(default_factory=list)
    associated: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)


def listed_stores(*, searched: str = "", country: str = "") -> QuerySet[Store]:
    """Searches the name, the description and the categories of products."""
    stores = _with_profiles().filter(profile__is_listed=True)
    if country:
        stores = stores.filter(profile__country__iexact=country)
    for word in searched.split()[:MAX_SEARCH_WORDS]:
        sold = Product.objects.filter(
            Q(category__icontains=word) | Q(name__icontains=word), store=OuterRef("pk"), is_active=True
        )
        stores = stores.filter(
            Q(company_name__icontains=word) | Q(description__icontains=word) | Exists(sold)
        )
    return stores.order_by("company_name", "pk")


def countries_listed() -> list[str]:
    located = StoreProfile.objects.filter(is_listed=True).exclude(country="")
    return sorted(set(located.values_list("country", flat=True)))


def listings(stores: Iterable[Store], applications: Iterable[Application]) -> list[Listing]:
    """Runs three queries for any number of stores."""
    listing_by_store = {store.pk: Listing(store) for store in stores}
    names = {application.pk: application.name for application in applications}
    sold = Product.objects.filter(store__in=listing_by_store, is_active=True).exclude(category="")
    counted = (
        sold.values("store", "category").annotate(products=Count("pk")).order_by("-products", "category")
    )
    for row in counted:
        listing_by_store[row["store"]].prints.append(row["category"])
    roles = Role.objects.filter(store__in=listing_by_store, application__in=names, user__isnull=True)
    for store_id, application_id in roles.values_list("store", "application").distinct():
        if store_id is not None and application_id is not None:
            listing_by_store[store_id].associated.append(names[application_id])
    waiting = AssociationRequest.objects.filter(
        store__in=listing_by_store, application__in=names, state=AssociationState.PENDING
    )
    for store_id, application_id in waiting.values_list("store", "application"):
        if store_id is not None:
            listing_by_store[store_id].pending.append(names[application_id])
    return list(listing_by_store.values())


def directory_store(store_id: str) -> Store:
    """A listed store, or the demo store, which is open to everyone."""
    store = (
        _with_profiles().filter(Q(profile__is_listed=True) | Q(is_demo=True), external_id=store_id).first()
    )
    if store is None:
        raise NotFound(_("There is no such store in the directory."))
    return store


def _with_profiles() -> QuerySet[Store]:
    return Store.objects.select_related("profile").defer("rendering", "verbose_rendering", "profile__logo")
