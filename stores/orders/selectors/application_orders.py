"""The orders that an application placed, for its pages in the portal."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from accounts.models import Role, User
from applications.registration.models import Application
from applications.webhooks.models import Delivery, Event
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import NotFound
from stores.catalog.models import Store
from stores.orders.models import Order
from stores.orders.selectors.access import READ

LARGEST_NUMBER = 2**63 - 1
EVENTS_SHOWN = 100
# By the index of each store's orders of an application, so that a page costs the same among millions.
PAGE = """
SELECT found.id FROM unnest(%s::bigint[]) AS store(id) CROSS JOIN LATERAL (
    SELECT id, number FROM stores_order
    WHERE store_id = store.id AND application_id = %s AND number < %s AND (%s::uuid IS NULL OR user_id = %s::uuid)
    ORDER BY created DESC, id DESC LIMIT %s
) found ORDER BY found.number DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class OrdersAccess:
    """Which orders of an application a user sees: all of them, or the user's own."""

    application: Application
    stores: QuerySet[Store]
    user_id: UUID | None

    @property
    def store_ids(self) -> list[int]:
        return list(self.stores.values_list("pk", flat=True))

    def visible_in(self, stores: list[int] | QuerySet) -> Q:
        own = {} if self.user_id is None else {"user": self.user_id}
        return Q(application=self.application, store__in=stores, **own)


def orders_access(application: Application, user: User, *, may_write: bool) -> OrdersAccess:
    """Users who may read the application's keys see all its orders; others see the orders they placed with it.

    Stores whose association has ended, or no longer grants reading, show no orders.
    """
    stores = Store.objects.filter(
        Q(is_demo=True)
        | Q(
            pk__in=Role.objects.filter(
                application=application, user__isnull=True, store__isnull=False, grant__in=READ
            ).values("store")
        )
    ).order_by()
    sees_all = may_write and not application.is_first_party
    return OrdersAccess(application, stores, None if sees_all else user.pk)


def newest_orders(access: OrdersAccess, *, before: int | None, take: int) -> list[Order]:
    """Newest first, below the number `before`."""
    limit = LARGEST_NUMBER if before is None else min(before, LARGEST_NUMBER)
    person = access.user_id
    parameters = (access.store_ids, access.application.pk, limit, person, person, take, take)
    ids = [row[0] for row in fetch_rows(PAGE, parameters)]
    return list(_shown().filter(pk__in=ids).order_by("-number"))


def orders_named(access: OrdersAccess, text: str, *, take: int) -> list[Order]:
    """By complete order number or ExternalID."""
    wanted = Q(external_id=text)
    if text.isascii() and text.isdigit() and int(text) <= LARGEST_NUMBER:
        wanted |= Q(number=int(text))
    visible = access.visible_in(access.store_ids)
    return list(_shown().filter(visible).filter(wanted).order_by("-number")[:take])


def order_of_application(access: OrdersAccess, order_id: str) -> Order:
    try:
        visible = access.visible_in(access.stores.values("pk"))
        return _shown().prefetch_related("shipments").get(visible, pk=UUID(order_id))
    except (ValueError, Order.DoesNotExist) as error:
        raise NotFound("There is no such order, or it is not one you may see.") from error


def events_of_order(application: Application, order: Order) -> list[Event]:
    """The events of an order as sent to the application, oldest first, with their deliveries."""
    deliveries = Prefetch("deliveries", Delivery.objects.select_related("webhook").order_by("id"))
    events = Event.objects.filter(application=application, data__OrderID=str(order.pk))
    return list(events.prefetch_related(deliveries).order_by("transaction", "id")[:EVENTS_SHOWN])


def _shown() -> QuerySet[Order]:
    return Order.objects.select_related("store").defer(
        "rendering", "store__rendering", "store__verbose_rendering"
    )
