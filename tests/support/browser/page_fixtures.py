"""A world in which every page of the portal has something to show."""

from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from uuid import uuid4

from django.utils import timezone
from PIL import Image

from accounts.callers import Caller
from accounts.models import AssociationRequest, Role
from accounts.services.associations import deny_association
from accounts.services.email_changes import request_email_change
from applications.oauth.services import issue_access_token
from applications.registration.models import DailyUsage, LoggedRequest
from applications.registration.selectors.request_log import today
from applications.registration.services.icons import set_icon
from applications.registration.services.keys import add_key
from applications.registration.services.owners import invite_owner
from applications.webhooks.models import Delivery, DeliveryAttempt, Event
from applications.webhooks.services.webhooks import create_webhook, disable_webhook
from delivery.datasets.services.demo import load_demo_population
from stores.batches.files.records import FileFault
from stores.batches.services.rows import replace_rows
from stores.catalog.models import StoreProfile
from stores.orders.models import RECIPIENT_FIELDS, ApprovalRequest, ApprovalState, Order
from stores.orders.requests import OrderRequest, PriceRequest, PriceRequestItem
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.services.orders import place_test_order
from tests.factories.delivery import load_dataset
from tests.factories.orders import RECIPIENT, card_data, make_card, make_design
from tests.factories.selections import make_selection
from tests.support.batches.batches import addressed, checked, make_batch, source_of
from tests.support.scenario import World


def picture(side: int = 215, color: str = "#225588") -> bytes:
    out = BytesIO()
    Image.new("RGB", (side, side), color).save(out, "PNG")
    return out.getvalue()


def furnish(world: World) -> World:
    """Of each thing the user's pages can show, one in each state, for the application of the world."""
    owner, now = Caller.on_pages(world.user), timezone.now()
    application = world.application
    set_icon(application=application, content=picture())
    add_key(application=application, start_date=now - timedelta(days=9), end_date=now - timedelta(days=2))
    add_key(application=application, start_date=now + timedelta(days=9), end_date=now + timedelta(days=99))
    DailyUsage.objects.bulk_create(
        DailyUsage(
            application=application,
            day=today() - timedelta(days=back),
            calls=100 * back + 7,
            client_errors=back,
            server_errors=back % 3,
        )
        for back in range(29)
    )
    LoggedRequest.objects.create(
        application=application,
        user=world.user,
        time=now - timedelta(minutes=5),
        method="GET",
        path="/api/v1/store/{storeID}",
        status=429,
        code="rate_limit_exceeded",
        pointer="",
        microseconds=1_800,
        request_id=uuid4(),
        headers={"Accept": "application/json"},
        problem={"Code": "rate_limit_exceeded", "status": 429},
    )
    Role.objects.create(user=world.outsider, application=application, grant="Application.Self.Read")
    invite_owner(caller=owner, application=application, email="guest@far.example")
    request_email_change(user=world.user, email="new@print.example")
    issue_access_token(
        user=world.user, application=application, scopes=["Store.Self.Read"], lifetime=timedelta(hours=1)
    )
    _ask(world)
    _hook(world)
    _sell(world)
    _fill_batch(world)
    box = {"west": -112.0, "south": 40.7, "east": -111.8, "north": 40.8}
    make_selection(dataset=load_dataset(active=False), user=world.user, **box)
    load_demo_population()
    return world


def _sell(world: World) -> None:
    """Products with and without a template at the demo store, an order of each, and a store in the directory."""
    make_card(world.demo, "business-card")
    make_design(world.demo, "photo-postcard-6x9")
    StoreProfile.objects.create(
        store=world.unassociated, is_listed=True, country="Canada", website="https://print.example"
    )
    access = authorize_store(Caller.of_application(world.application), "demo", WRITE)
    order = place_test_order(
        access=access,
        request=OrderRequest(
            price_request=PriceRequest(
                items=(PriceRequestItem("1", "business-card", 100),), country_code="US"
            ),
            recipient={name: RECIPIENT.get(name, "") for name in RECIPIENT_FIELDS},
            template_data=[card_data()],
        ),
    )
    Order.objects.filter(pk=order.pk).update(approval=ApprovalState.PENDING)
    ApprovalRequest.objects.create(
        order=order,
        ordered_by=[world.user.pk],
        reasons=[{"Kind": "Total", "Limit": 0.0, "Total": float(order.total)}],
        requested=timezone.now(),
        expires=timezone.now() + timedelta(hours=72),
    )


def _fill_batch(world: World) -> None:
    """A batch with rows that are ready, doubtful and wrong."""
    access = authorize_store(Caller.of_application(world.application), "demo", WRITE)
    batch = make_batch(access, product_id="business-card", mode="Recipients", name="Welcome cards")
    source = source_of([addressed(1), addressed(2), addressed(3, Mail="nowhere")])
    doubt = FileFault(
        "zip_zeros_lost", "It may have lost a zero.", "Look at it.", severity="Warning", column="Zip"
    ).record
    source.rows[1] = replace(source.rows[1], problems=[doubt])
    replace_rows(batch=batch, source=source)
    checked(batch)


def _hook(world: World) -> None:
    """A webhook with a delivery in each state, and one that was disabled."""
    application, now = world.application, timezone.now()
    webhook, disabled = (
        create_webhook(application=application, values={"URL": f"https://93.184.216.34/{name}"})[0]
        for name in ("hooks", "gone")
    )
    disable_webhook(webhook=disabled, reason="The endpoint responded with 410 Gone.")
    for state, status in (("Delivered", 200), ("Pending", 503), ("Failed", None)):
        event = Event.objects.create(
            application=application,
            store_id="associated",
            type="order.shipped",
            timestamp=now,
            data={"OrderNumber": "ASC-1001", "Status": 70},
        )
        delivery = Delivery.objects.create(
            event=event,
            webhook=webhook,
            state=state,
            tries=2,
            created=now,
            next_try=now + timedelta(hours=1) if state == "Pending" else None,
        )
        DeliveryAttempt.objects.create(
            delivery=delivery,
            timestamp=now,
            milliseconds=87,
            status_code=status,
            error="" if status else "The connection was refused.",
            body="Thank you" if status else "",
        )


def _ask(world: World) -> None:
    requested = [
        AssociationRequest.objects.create(
            application=world.application,
            store=store,
            requested_by=world.user,
            grants=["Store.Self.Read"],
            message="Postcards for Acme",
        )
        for store in (world.unassociated, world.demo)
    ]
    deny_association(caller=Caller.on_pages(world.operator), request_id=requested[1].pk, note="Not yet")
    for user, application in ((world.user, world.other_application), (world.operator, world.application)):
        AssociationRequest.objects.create(
            application=application, user=user, requested_by=user, message="I work on it"
        )
