"""The data beside which pages are measured: orders, applications with their usage, requests and deliveries."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

APPLICATIONS, DAYS, DELIVERIES = 10_000, 30, 100_000
PEOPLE = ("everyday", "collector", "operator")
EVERYDAY_APPLICATIONS = 3
MANY = 5_000


def fill(*, orders: int) -> None:
    """What is missing of it."""
    from accounts.models import User
    from applications.registration.models import Application
    from tests.benchmarks import order_data

    order_data.prepare()
    if order_data.count() < orders:
        order_data.fill(to=orders, large=orders // 10)
    if Application.objects.count() < APPLICATIONS:
        people = _make_people()
        applications = _make_applications(people)
        _make_usage(applications)
        _make_requests(people, applications)
        _make_deliveries(applications[0])
        _analyze()
    if not User.objects.filter(username="customer-00000").exists():
        _make_customers()
        _analyze()


def _make_people() -> dict[str, Any]:
    from accounts.models import Tenant
    from accounts.services.users import create_user

    tenant = Tenant.objects.get(domain="bench.example")
    return {
        name: create_user(
            tenant=tenant,
            username=name,
            first_name=name.title(),
            last_name="Example",
            email=f"{name}@bench.example",
            password="a long pass phrase",
            is_operator=name == "operator",
        )
        for name in PEOPLE
    }


def _make_customers() -> None:
    """As many users as applications, each with a role on a store."""
    from accounts.models import Role, Tenant, User
    from accounts.permissions import Grant
    from stores.catalog.models import Store

    tenant, store = Tenant.objects.get(domain="bench.example"), Store.objects.order_by("pk")[0]
    users = User.objects.bulk_create(
        [
            User(
                tenant=tenant,
                username=f"customer-{number:05}",
                first_name="Casey",
                last_name=f"Customer {number:05}",
                email=f"customer-{number:05}@bench.example",
                password="!",
            )
            for number in range(APPLICATIONS)
        ],
        batch_size=MANY,
    )
    Role.objects.bulk_create(
        [Role(user=user, store=store, grant=Grant.ORDER_ALL_READ) for user in users], batch_size=MANY
    )


def _make_applications(people: dict[str, Any]) -> list[Any]:
    """The first few are the everyday user's, all of them the collector's."""
    from accounts.models import Role
    from applications.registration.models import Application
    from applications.registration.services.applications import OWNER_GRANTS

    made = Application.objects.bulk_create(
        [
            Application(
                name=f"Application {number:05}",
                client_id=f"bench-application-{number:05}",
                client_secret="",
                hash_client_secret=False,
                user=people["collector"],
                description="Cards and postcards for galleries, ordered from a phone.",
                redirect_uris="https://client.example/callback",
                client_type="public",
                authorization_grant_type="authorization-code",
            )
            for number in range(APPLICATIONS)
        ],
        batch_size=MANY,
    )
    owners = [(application, people["collector"]) for application in made]
    owners += [(application, people["everyday"]) for application in made[:EVERYDAY_APPLICATIONS]]
    Role.objects.bulk_create(
        [
            Role(user=user, application=application, grant=grant)
            for application, user in owners
            for grant in OWNER_GRANTS
        ],
        batch_size=MANY,
    )
    return made


def _make_usage(applications: list[Any]) -> None:
    from applications.registration.models import DailyUsage
    from applications.registration.selectors.usage import today

    rows = (
        DailyUsage(
            application=application,
            day=today() - timedelta(days=back),
            calls=1000 + back,
            client_errors=back,
            server_errors=0,
        )
        for application in applications
        for back in range(DAYS)
    )
    DailyUsage.objects.bulk_create(rows, batch_size=MANY)


def _make_requests(people: dict[str, Any], applications: list[Any]) -> None:
    """Each application asks for a store; the first was given them all and has asked for each."""
    from accounts.models import AssociationRequest, Role
    from accounts.permissions import DEFAULT_STORE_GRANTS
    from stores.catalog.models import Store

    stores = list(Store.objects.all())
    asked = [(application, stores[0]) for application in applications[1:]]
    asked += [(applications[0], store) for store in stores]
    AssociationRequest.objects.bulk_create(
        [
            AssociationRequest(
                application=application, store=store, requested_by=people["collector"], message="Postcards"
            )
            for application, store in asked
        ],
        batch_size=MANY,
    )
    Role.objects.bulk_create(
        Role(application=applications[0], store=store, grant=grant)
        for store in stores
        for grant in DEFAULT_STORE_GRANTS
    )


def _make_deliveries(application: Any) -> None:
    from applications.webhooks.models import Delivery, DeliveryAttempt, Event
    from applications.webhooks.services.webhooks import create_webhook

    webhook, _ = create_webhook(application=application, values={"URL": "https://93.184.216.34/hooks"})
    now = timezone.now()
    events = Event.objects.bulk_create(
        [
            Event(
                application=application,
                store_id="bench-01",
                type="order.shipped",
                timestamp=now,
                data={"OrderNumber": number},
            )
            for number in range(DELIVERIES)
        ],
        batch_size=MANY,
    )
    deliveries = Delivery.objects.bulk_create(
        [Delivery(event=event, webhook=webhook, state="Delivered", tries=1, created=now) for event in events],
        batch_size=MANY,
    )
    DeliveryAttempt.objects.bulk_create(
        [
            DeliveryAttempt(delivery=each, timestamp=now, milliseconds=80, status_code=200)
            for each in deliveries
        ],
        batch_size=MANY,
    )


def _analyze() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("VACUUM ANALYZE")
