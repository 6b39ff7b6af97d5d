"""The start page of the console: every figure is what the data says."""

import html
from datetime import UTC, date, datetime, timedelta
from urllib.parse import unquote

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import Role
from accounts.services.associations import approve_association, request_association
from applications.registration.models import DailyUsage
from applications.webhooks.models import Webhook
from applications.webhooks.services.webhooks import disable_webhook
from fulfillment.core.admin.charts import axis_ticks, comparison_text, in_percent
from stores.orders.models import Order, OrderDay
from tests.factories.delivery import load_dataset
from tests.factories.orders import make_product
from tests.factories.webhooks import make_webhook
from tests.support.pages import text


@pytest.fixture
def start(world, client):
    """What the operator sees now."""

    def look(user=None) -> str:
        client.force_login(user or world.operator)
        return text(client.get("/admin/"))

    return look


def test_empty_service_says_what_to_do(start):
    page = start()

    for said in (
        "All clear",
        "No pending requests.",
        "No orders yet. They arrive through the API",
        "No webhook has been failing.",
        "No data set is active: the API answers 503 to every look-up.",
        "No calls in this period.",
        "0 <small>pending</small>",
        "0 <small>failing</small>",
    ):
        assert said in page


def test_requests_that_wait(world, start):
    requested = [
        request_association(caller=Caller.on_pages(owner), application=application, store=store)[0]
        for owner, application, store in (
            (world.user, world.application, world.unassociated),
            (world.outsider, world.other_application, world.associated),
            (world.outsider, world.other_application, world.unassociated),
        )
    ]
    approve_association(caller=Caller.on_pages(world.operator), request_id=requested[2].pk)

    page = start()

    assert "2 <small>pending</small>" in page
    for one, is_shown in zip(requested, (True, True, False), strict=True):
        assert (f"/associationrequest/{one.pk}/change/" in page) == is_shown


def test_orders_by_status_and_cancellations_requested(shop, start):
    orders = [shop.place().json() for _ in range(4)]
    operator = shop.world.as_operator()
    for order in orders[:2]:
        assert shop.act(order, "status", {"Status": 30}, client=operator).status_code == 200
    shop.act(orders[0], "status", {"Status": 40}, client=operator)
    shop.act(orders[0], "status", {"Status": 60}, client=operator)
    Order.objects.filter(pk=orders[1]["OrderID"]).update(cancellation="Requested")

    page = start()

    assert "3 <small>open, of 4</small>" in page
    for code, name, count in (
        (10, "Received", 2),
        (30, "Accepted", 1),
        (60, "Shipped", 1),
        (95, "Rejected", 0),
    ):
        row = page.partition(f'?status__exact={code}">{name}</a>')[2].partition("</li>")[0]
        assert f"<b>{count}</b>" in row, name
        assert f'class="calls" width="{count * 50:.2f}"' in row
    assert "<b>1</b> <span>cancellation request pending" in page


def test_staff_see_the_orders_of_their_store_and_nothing_of_the_service(shop, start):
    make_product(shop.world.unassociated)
    Role.objects.create(
        application=shop.world.application, store=shop.world.unassociated, grant="Order.Self.Write"
    )
    for store in ("associated", "unassociated", "unassociated"):
        assert shop.place(store=store).status_code == 201

    assert "3 <small>open, of 3</small>" in start()
    own = start(shop.world.user)
    assert "1 <small>open, of 1</small>" in own
    for other in ("Association requests</h2>", "Webhooks</h2>", "Delivery data", "API calls in 30 days"):
        assert other not in own


def test_failing_webhooks(world, start):
    now = timezone.now()
    since = {"https://192.0.43.8/new": 1, "https://192.0.43.8/old": 50, "https://192.0.43.8/off": 90}
    for url, hours in since.items():
        webhook = make_webhook(world.application, url)
        Webhook.objects.filter(pk=webhook.pk).update(failing_since=now - timedelta(hours=hours))
    disable_webhook(webhook=webhook, reason="Five days")
    make_webhook(world.application, "https://192.0.43.8/fine")

    page = start()

    assert "2 <small>failing</small>" in page
    assert page.index("43.8/old") < page.index("43.8/new")
    assert "43.8/off" not in page
    assert "43.8/fine" not in page
    assert "2 days, 2 hours ago" in page.replace("\xa0", " ")


@time_machine.travel(date(2026, 11, 20))
@pytest.mark.parametrize(
    ("vintage", "is_synthetic", "says"),
    [
        (date(2026, 10, 1), False, " routes, 1,448 deliveries."),
        (date(2026, 4, 1), False, "The counts are 7 months old."),
        (date(2026, 10, 1), True, "These counts are sample data"),
    ],
)
def test_vintage_of_the_delivery_data(start, vintage, is_synthetic, says):
    load_dataset(vintage=vintage, is_synthetic=is_synthetic)
    load_dataset(vintage=date(2026, 11, 1), active=False)

    page = start()

    assert f"{vintage:%B %Y} <small>3 ZIP codes</small>" in page
    assert says in page


def test_calls_and_errors_of_thirty_days(world, start):
    today = datetime.now(UTC).date()
    counted = [(0, 40, 4, 1), (29, 100, 10, 5), (30, 7000, 700, 70)]
    for application in (world.application, world.other_application):
        for back, calls, client_errors, server_errors in counted:
            DailyUsage.objects.create(
                application=application,
                day=today - timedelta(days=back),
                calls=calls,
                client_errors=client_errors,
                server_errors=server_errors,
            )

    page = start().replace("> <", "><")

    assert "280 <small>calls, 28 refused, 12 failed</small>" in page
    assert "at most 200 a day" in page
    first = f"{(today - timedelta(days=29)).day} {today - timedelta(days=29):%b}"
    assert f'<th scope="row">{first}</th><td>200</td><td>20</td><td>10</td>' in page
    assert page.count('<tr><th scope="row">') == 30
    # The highest day fills the chart: 140 high, of it 170 of 200 calls answered well.
    assert 'y="21.00" height="119.00"' in page


def attention(page: str) -> str:
    return page.partition('id="board-attention"')[2].partition("</section>")[0]


def test_attention_card_leads_to_its_list(shop, start):
    world = shop.world
    orders = [shop.place().json()["OrderID"] for _ in range(4)]
    today = timezone.now().date()
    Order.objects.filter(pk__in=orders[:2]).update(latest_delivery=today - timedelta(days=3))
    Order.objects.filter(pk=orders[2]).update(cancellation="Requested")
    request_association(
        caller=Caller.on_pages(world.user), application=world.application, store=world.unassociated
    )
    webhook = make_webhook(world.application, "https://192.0.43.8/hook")
    Webhook.objects.filter(pk=webhook.pk).update(failing_since=timezone.now())
    world.application.keys.update(end_date=timezone.now() + timedelta(days=3))

    entries = attention(start())

    for address, count, words in (
        ("/admin/stores/order/?due=late", 2, "late orders"),
        ("/admin/stores/order/?cancellation__exact=Requested", 1, "cancellation request pending"),
        ("/admin/accounts/associationrequest/", 1, "association request pending"),
        ("/admin/applications/webhook/?health=failing", 1, "webhook failing"),
        (
            "/admin/applications/application/?keys=ending",
            1,
            "application whose last key expires within two weeks",
        ),
    ):
        assert f'<a href="{address}"><b>{count}</b> <span>{words}' in entries
    order = [entries.index(words) for words in ("late", "cancellation", "association", "webhook", "last key")]
    assert order == sorted(order)

    own = attention(start(world.user))
    assert "late orders" in own
    assert "association" not in own
    assert "webhook" not in own


def test_applications_whose_keys_end_are_listed(world, client):
    client.force_login(world.operator)
    address = "/admin/applications/application/?keys=ending"
    assert not client.get(address).context["cl"].result_list
    world.application.keys.update(end_date=timezone.now() + timedelta(days=3))

    assert [application.pk for application in client.get(address).context["cl"].result_list] == [
        world.application.pk
    ]


def test_failed_jobs_and_a_full_disk_need_attention(start, monkeypatch):
    monkeypatch.setattr("fulfillment.site.attention.room_for_files", lambda: (4 << 30, 100 << 30))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status) VALUES ('q', 't', '{}', 'failed')"
        )

    entries = attention(start())

    assert "<b>4</b> <span>% of the disk for files are free<small>4.0 GB are left of 100 GB" in entries
    assert '?status__exact=failed"><b>1</b> <span>background job failed' in entries


def test_orders_placed_and_shipped_by_day_and_store(shop, start):
    make_product(shop.world.unassociated)
    Role.objects.create(
        application=shop.world.application, store=shop.world.unassociated, grant="Order.Self.Write"
    )
    operator = shop.world.as_operator()
    orders = [shop.place(store=store).json() for store in ("associated", "associated", "unassociated")]
    for status in (30, 40, 60):
        assert shop.act(orders[0], "status", {"Status": status}, client=operator).status_code == 200
    OrderDay.objects.filter(store=shop.world.unassociated).update(
        day=timezone.now().date() - timedelta(days=6)
    )

    page = chart_of(start())
    assert "3 <small>placed, none in the 14 days before</small>" in page
    assert "<li>1 shipped</li>" in page
    assert shop.world.unassociated.company_name in page.partition("svg")[0]
    own = start(shop.world.user)
    assert "2 <small>placed, none in the 14 days before</small>" in chart_of(own)
    assert (
        shop.world.unassociated.company_name not in own.partition("board-orders-chart")[2].partition("svg")[0]
    )


def chart_of(page: str) -> str:
    return page.partition("board-orders-chart")[2].partition("</section>")[0]


def test_chart_has_axis_values_money_and_the_period_before(shop, start):
    for _ in range(3):
        assert shop.place().status_code == 201
    today = timezone.now().date()
    for ago, placed, amount in ((20, 2, "10.00"), (40, 99, "9999.00")):
        OrderDay.objects.create(
            store=shop.store, day=today - timedelta(days=ago), placed=placed, amount=amount
        )
    total = sum(Order.objects.values_list("total", flat=True))

    page = chart_of(start()).replace("> <", "><")

    assert '<ol class="bars-axis" aria-hidden="true"><li>4</li><li>2</li><li>0</li></ol>' in page
    # Three of four on the axis, in a chart of 140.
    assert 'y="35.00" height="105.00"' in page
    assert "<b>3</b><span>Today</span>" in page
    assert "3 <small>placed, 50% more than in the 14 days before</small>" in page
    percent = round((total - 10) * 100 / 10)
    assert f"{total:,.2f} USD <b>+{percent:,}%</b>" in page
    assert f"<td>3</td><td>0</td><td>{total:,.2f}</td>" in page
    address = html.unescape(page.partition('download="orders-by-day.csv" href="')[2].partition('"')[0])
    rows = unquote(address.partition(",")[2]).splitlines()
    assert rows[0] == "\ufeffDay,Associated Print,Placed,Shipped,Amount USD"
    assert rows[-1] == f"{today},3,3,0,{total}"
    assert len(rows) == 15


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(0, (2, 1, 0)), (3, (4, 2, 0)), (9, (20, 10, 0)), (80, (80, 40, 0)), (81, (200, 100, 0))],
)
def test_axis_ends_at_a_round_number_with_a_whole_half(most, ticks):
    assert axis_ticks(most) == ticks


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (0, 0, ""),
        (5, 0, "none in the week before"),
        (5, 5, "as in the week before"),
        (3, 4, "25% less than in the week before"),
    ],
)
def test_change_is_said_in_words(now, before, words):
    assert comparison_text(now, before, "the week") == words


@pytest.mark.parametrize(
    ("now", "before", "words"), [(5, 0, ""), (5, 5, ""), (9, 4, "+125%"), (3, 4, "\N{MINUS SIGN}25%")]
)
def test_change_is_said_in_short(now, before, words):
    assert in_percent(now, before) == words
