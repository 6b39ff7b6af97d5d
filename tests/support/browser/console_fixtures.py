"""A world in which every page of the console has something to show, beside what `furnish` makes for the portal."""

from datetime import date, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from fontTools.ttLib import TTFont
from oauth2_provider.models import AccessToken, RefreshToken

from accounts.callers import Caller
from accounts.models import Role, Tenant
from accounts.permissions import Permission
from accounts.services.associations import request_association
from applications.registration.services.applications import create_application
from applications.registration.services.keys import add_key
from applications.webhooks.services.deliveries import send_test_event
from applications.webhooks.services.webhooks import create_webhook
from delivery.datasets.models import ImportProblem, ImportRun
from delivery.datasets.services.imports import receive_upload
from delivery.papers.services import add_official_form, save_postage_price
from printing.typesetting import FontSet
from production.dispatch.services.reports import receive_reports
from production.gang_sheets.models import GangSheet
from production.interface import Report
from production.jobs.models import Attempt, Job, JobHistory
from stores.catalog.models import CatalogUpload, Store
from stores.orders.eddm import ROUTE, stored_record
from stores.orders.models import Order, OrderItem, OrderStatus
from stores.orders.request_bodies import read_order_request
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.services.approvals import approve_order
from stores.orders.services.changes import Actor
from stores.orders.services.orders import place_staff_order
from stores.orders.services.transitions import Parcel, transition_order
from stores.presets.models import OutputProfile
from stores.templates.services import add_font
from tests.factories.budgets import enable_budgets, make_budget, make_cost_center
from tests.factories.delivery import SMALL, csv_lines, load_dataset
from tests.factories.eddm import make_selection
from tests.factories.forms import make_form
from tests.factories.orders import card_data, make_card, make_product, order_body
from tests.factories.presets import PrintPresetFactory, make_profile
from tests.factories.production import make_provider, make_rule
from tests.support.batches.batches import access_to, checked, make_batch, ordered, person
from tests.support.scenario import World

CHANGE = {"kind": "new", "store_id": "associated", "product_id": "a", "name": "A", "members": ["Name"]}
FAULTS = [["/Stores/0/StoreID", "It is too long."]]


def furnish_console(world: World) -> World:
    _need_approval(world)
    make_budget(enable_budgets(world.associated))
    make_cost_center(world.associated, world.user)
    place_orders(world)
    ask_for_stores(world)
    ship_one(world)
    _import_files(world)
    _produce()
    Tenant.objects.create(domain="empty.example", name="Nobody yet")
    add_font(file_name="harbor.ttf", content=_font())
    PrintPresetFactory(code="coated", profile=make_profile())
    # Of no preset: it may be deleted.
    make_profile(2)
    # Pages show no megabytes, and to put them back takes longer than most tests.
    OutputProfile.objects.update(content=b"")
    add_key(application=world.application)
    save_postage_price(starts=date(2026, 1, 1), per_piece=Decimal("0.247"))
    add_official_form(file_name="ps3587.pdf", content=make_form(), by="operator")
    webhook, _ = create_webhook(
        application=world.application, values={"URL": "https://hooks.example/in", "EventTypes": ["*"]}
    )
    send_test_event(webhook=webhook)
    token = AccessToken.objects.filter(user__isnull=False).first()
    RefreshToken.objects.create(
        user=token.user, application=token.application, access_token=token, token_family=uuid4()
    )
    return world


def _need_approval(world: World) -> None:
    """An order that was approved, one that is pending, a batch that is, and one with a row in error."""
    make_card(world.associated)
    Role.objects.create(user=world.user, store=world.associated, grant=Permission.ORDER_ALL_APPROVE)
    stores = Store.objects.filter(pk=world.associated.pk)
    stores.update(approval_above=0)
    line = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    access = authorize_store(Caller.on_pages(world.operator), world.associated.external_id, WRITE)
    for note in ("For the fair.", ""):
        order = place_staff_order(access=access, request=read_order_request(order_body(Items=[line])))
        if note:
            approve_order(order=order, actor=Actor("Store", world.user.pk), note=note)
    batch = make_batch(access_to(world), [person(1)], product_id="card-two-sided", name="Cards of a team")
    ordered(checked(batch))
    stores.update(approval_above=None)
    rows = [person(1), person(2, Mail="nowhere")]
    checked(make_batch(access_to(world), rows, product_id="card-two-sided", name="Cards to correct"))


def place_orders(world: World) -> None:
    """A quote, and two orders of a product with a template."""
    make_product(world.associated, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200)
    if not world.associated.products.filter(external_id="card-two-sided").exists():
        make_card(world.associated)
    client = world.as_application()
    line = {"ProductID": "card-two-sided", "Quantity": 100}
    quote = {"Items": [line], "ShipTo": {"CountryCode": "US"}}
    assert client.call("POST", "/store/associated/quote", quote).status_code == 201
    for _ in range(2):
        body = order_body(Items=[{**line, "TemplateData": card_data()}])
        assert client.call("POST", "/store/associated/order", body).status_code == 201
    selection = make_selection(application=world.application)
    kept = stored_record(selection, selection.routes.order_by("position").values_list(*ROUTE))
    OrderItem.objects.filter(order=Order.objects.latest("number")).update(eddm=kept)
    make_selection(user=world.operator, dataset=selection.dataset)


def ask_for_stores(world: World) -> None:
    for name in ("Acme Mailer", "Realty Hub"):
        application = create_application(caller=Caller.on_pages(world.outsider), values={"Name": name})
        request_association(
            caller=Caller.on_pages(world.outsider),
            application=application,
            store=world.unassociated,
            grants=[Permission.STORE_SELF_READ, Permission.ORDER_ALL_READ],
            message="We send menus for 40 restaurants in Vancouver and would print with you.",
        )


def ship_one(world: World) -> None:
    order, actor = Order.objects.latest("number"), Actor("Operator", world.operator.pk)
    for status in (OrderStatus.ACCEPTED, OrderStatus.IN_PRODUCTION):
        transition_order(order=order, status=status, actor=actor)
    transition_order(order=order, status=OrderStatus.SHIPPED, actor=actor, parcels=[Parcel("UPS", "1Z999")])


def _produce() -> None:
    """A provider with its rule, and a job in each of two states with all that can be known of one."""
    root = settings.MEDIA_ROOT / "production"
    provider = make_provider(root)
    rule, now = make_rule(provider), timezone.now()
    for order, state in zip(Order.objects.order_by("-number")[:2], ("Shipped", "Failed"), strict=True):
        job = Job.objects.create(
            number=f"{order.number}-1",
            order=order,
            item=order.items.get(),
            store=order.store,
            provider=provider,
            rule=rule,
            state=state,
            message="No such paper." if state == "Failed" else "",
            due=order.latest_delivery,
            tries=1,
            created=now,
            sent=now,
            updated=now,
        )
        JobHistory.objects.create(job=job, state=state, timestamp=now, actor_kind="System", note="Reported.")
        about = {"job": job, "provider": provider}
        Attempt.objects.create(
            **about,
            number=job.number,
            kind="Submit",
            outcome="Sent",
            request="in",
            response="out",
            digests={"a.pdf": "0" * 64},
            started=now,
        )
        receive_reports(provider=provider, reports=[Report(job.number, job.number, "Shipped", now, raw="{}")])
    job.gang_sheet = GangSheet.objects.create(
        provider=provider,
        product=job.item.product,
        store=job.store,
        kind="88.9 x 50.8 mm",
        created=now,
        next_try=now,
    )
    job.save()


def _import_files(world: World) -> None:
    """Of both kinds of import one in each state that looks different, and two data sets to compare."""
    live = load_dataset()
    load_dataset({"84101": {"C001": 500_00001}}, active=False, concerns=("Far fewer routes than before.",))
    by, now = world.operator.username, timezone.now()
    content = "\n".join(["ZIP,CRRT,RES,BUS,TOT", *csv_lines(SMALL), "501,H002,5,5,11"])
    receive_upload(upload=SimpleUploadedFile("small.csv", content.encode()), by=by)
    # Of tomorrow: what waits too long counts as dead.
    ImportRun.objects.create(
        state="waiting", file_name="next.csv", created_by=by, updated=now + timedelta(days=1)
    )
    ImportRun.objects.create(
        state="failed", file_name="broken.csv", error="It is no table.", created_by=by, finished=now
    )
    loaded = ImportRun.objects.create(
        state="loaded",
        file_name="small.csv",
        dataset=live,
        problem_counts={"E_ZIP": 1},
        notes=["3 columns were left out."],
        problem_file=SimpleUploadedFile("problems.csv", b"line"),
        created_by=by,
        finished=now,
    )
    ImportProblem.objects.create(import_run=loaded, line=8, column="ZIP", value="5x1", code="E_ZIP")
    summary = {"products_new": 1, "changes": [CHANGE]}
    for state, more in (
        ("waiting", {}),
        ("refused", {"faults": FAULTS, "fault_count": 1}),
        ("checked", {"summary": summary, "store": world.associated}),
        ("imported", {"summary": summary, "imported_by": world.operator, "finished": now}),
        ("failed", {"error": "The worker was stopped."}),
    ):
        CatalogUpload.objects.create(
            state=state, file_name=f"{state}.json", size=1, created_by=world.operator, **more
        )


def _font() -> bytes:
    """A shipped face under another name."""
    font = TTFont(next(Path(path) for path in FontSet.shipped().paths if path.endswith("Lato-Regular.ttf")))
    for record in font["name"].names:
        if record.nameID in {1, 16}:
            record.string = "Harbor Sans"
    out = BytesIO()
    font.save(out)
    return out.getvalue()
