"""The actors of the playground: the user, or an application that the user may change."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Role, User
from accounts.permissions import STORE_GRANTS
from applications.registration.selectors.actors import Actor, actors_of
from applications.registration.selectors.applications import own_applications
from fulfillment.core.errors import Forbidden, NotFound
from stores.catalog.models import Store
from stores.proofs.selectors.proofs import authorized_store_id


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


def actors_at(user: User, store: Store) -> list[Actor]:
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
            f"None of your applications may use the catalog of {store.company_name} yet. "
            "Request access to it first: under Stores, or on the Stores tab of an application."
        )
    return actors


def store_named(store_id: str) -> Store:
    store = Store.objects.defer("rendering", "verbose_rendering").filter(external_id=store_id).first()
    if store is None:
        raise NotFound("There is no store with this ID.")
    return store
