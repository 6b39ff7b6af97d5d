"""Reading events: in the order of commits, nothing skipped under concurrent writes."""

import threading
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, connections, transaction
from django.db.models import F
from django.utils import timezone

from applications.webhooks.models import Event
from applications.webhooks.selectors import webhooks
from applications.webhooks.selectors.webhooks import SETTLED, Cursor, event_page
from applications.webhooks.services.events import record_event, renumber_events_after_restore
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import Invalid
from tests.factories.webhooks import make_event, settle
from tests.support.patience import PATIENCE, wait_for


def tell(application, number):
    record_event(
        application_id=application.pk, store_id="associated", type="order.received", data={"Number": number}
    )


def numbers(page):
    return [event.data["Number"] for event in page.events]


class Teller(threading.Thread):
    """A transaction of its own that writes an event at once and commits on demand."""

    def __init__(self, application, number):
        super().__init__()
        self.application, self.number = application, number
        self.written, self.commit = threading.Event(), threading.Event()
        self.start()
        assert self.written.wait(PATIENCE)

    def run(self):
        try:
            with transaction.atomic():
                tell(self.application, self.number)
                self.written.set()
                assert self.commit.wait(PATIENCE)
        finally:
            connections.close_all()

    def end(self):
        self.commit.set()
        self.join()


@pytest.mark.django_db(transaction=True)
def test_late_commit_is_never_passed_by_a_cursor(world):
    application = world.application
    slow = Teller(application, 1)
    with transaction.atomic():
        tell(application, 2)

    # 2 is committed, but 1, whose place is before it, may still come: nothing is shown yet.
    first = event_page(application)
    middle = Teller(application, 3)
    slow.end()
    settle()
    second = event_page(application, after=first.next)
    with transaction.atomic():
        tell(application, 4)
    third = event_page(application, after=second.next)
    middle.end()
    settle()
    fourth = event_page(application, after=third.next)

    assert [numbers(page) for page in (first, second, third, fourth)] == [[], [1, 2], [], [3, 4]]


@pytest.fixture
def open_transaction():
    """Begins one in a database of the server, which has written and stays open."""
    opened = []

    def begin(**changes):
        parameters = connection.get_connection_params()
        names = ("host", "port", "user", "password", "dbname")
        wanted = {name: parameters[name] for name in names if parameters.get(name)} | changes
        opened.append(psycopg.connect(**wanted))
        opened[-1].execute("CREATE TEMPORARY TABLE written (id integer)")

    yield begin
    for each in opened:
        each.close()


@pytest.mark.django_db(transaction=True)
def test_transaction_of_another_database_holds_nothing_back(world, open_transaction):
    open_transaction(dbname="postgres")
    event = make_event(world.application)

    # Another that ends at this very moment, of a test beside, may hold it back for one look.
    wait_for(lambda: event_page(world.application).events == [event])


@pytest.mark.django_db(transaction=True)
def test_other_transaction_of_this_database_holds_all_back(world, open_transaction):
    open_transaction()
    make_event(world.application)

    assert event_page(world.application).events == []


@pytest.mark.django_db(transaction=True)
def test_event_in_a_long_transaction_is_refused(world):
    with pytest.raises(transaction.TransactionManagementError), long_transaction():
        tell(world.application, 1)


@pytest.mark.django_db(transaction=True)
def test_reader_beside_many_writers_sees_every_event_once(world):
    application = world.application
    stop = threading.Event()

    def write(start):
        try:
            for number in range(start, start + 40):
                with transaction.atomic():
                    tell(application, number)
                    if number % 3 == 0:
                        transaction.set_rollback(True)
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write, args=(base * 1000,)) for base in range(4)]
    for writer in writers:
        writer.start()
    seen, cursor = [], Cursor()
    while not stop.is_set():
        if not any(writer.is_alive() for writer in writers):
            stop.set()
            settle()
        while (page := event_page(application, after=cursor, take=7)).events:
            seen += numbers(page)
            cursor = page.next

    written = {b * 1000 + n for b in range(4) for n in range(40) if (b * 1000 + n) % 3}
    assert len(seen) == len(set(seen))
    assert set(seen) == written


@pytest.mark.django_db(transaction=True)
def test_pages_follow_each_other_within_one_transaction_too(world):
    with transaction.atomic():
        for number in range(10):
            tell(world.application, number)
    make_event(world.other_application)

    settle()
    first = event_page(world.application, take=4)
    second = event_page(world.application, after=first.next, take=4)
    third = event_page(world.application, after=second.next, take=4)
    fourth = event_page(world.application, after=third.next, take=4)

    assert numbers(first) + numbers(second) + numbers(third) == list(range(10))
    assert (fourth.events, fourth.next) == ([], third.next)


@pytest.mark.django_db(transaction=True)
def test_long_events_make_shorter_pages_that_lose_none(world, monkeypatch):
    monkeypatch.setattr(webhooks, "PAGE_BYTES", 50)
    with transaction.atomic():
        for number in range(5):
            tell(world.application, number)
    settle()

    pages = [event_page(world.application, take=1000)]
    while pages[-1].events:
        pages.append(event_page(world.application, after=pages[-1].next, take=1000))

    assert [number for page in pages for number in numbers(page)] == [0, 1, 2, 3, 4]
    assert len(pages) > 3


@pytest.mark.django_db(transaction=True)
def test_thirty_days_are_shown(world):
    now = timezone.now()
    make_event(world.application, timestamp=now - timedelta(days=30, seconds=1))
    kept = make_event(world.application, timestamp=now - timedelta(days=29, hours=23))

    settle()
    assert event_page(world.application).events == [kept]


@pytest.mark.django_db(transaction=True)
def test_types_and_patterns_choose(world):
    for kind in ("order.received", "order.shipped", "association.approved"):
        make_event(world.application, kind)

    settle()

    def kinds(*patterns):
        return [event.type for event in event_page(world.application, patterns=patterns).events]

    assert kinds("order.*") == ["order.received", "order.shipped"]
    assert kinds("order.shipped", "association.*") == ["order.shipped", "association.approved"]
    assert len(kinds("*")) == 3


@pytest.mark.parametrize("text", ["", "nonsense", "ZTEuMg==x", "\u00e9", "ZS0xLjI", "ZTE", "a" * 500])
def test_cursor_that_is_none_of_ours_is_refused(text):
    with pytest.raises(Invalid):
        Cursor.of(text)


@pytest.mark.django_db(transaction=True)
def test_restored_database_is_read_from_the_start(world):
    """Its transactions count anew, far below the numbers that came with the backup."""
    for number in range(3):
        make_event(world.application, data={"Number": number})
    assert not renumber_events_after_restore()
    Event.objects.update(transaction=F("transaction") + 10**9)
    old = Cursor(Event.objects.last().transaction, Event.objects.last().pk)

    assert renumber_events_after_restore()
    make_event(world.application, data={"Number": 3})

    settle()
    assert numbers(event_page(world.application)) == [0, 1, 2, 3]
    with pytest.raises(Invalid) as refused:
        event_page(world.application, after=old)
    assert refused.value.code == "cursor_outdated"


def test_cursor_is_unchanged_by_a_round_trip():
    assert Cursor.of(Cursor(123456789012, 42).text) == Cursor(123456789012, 42)


@pytest.mark.django_db
def test_pages_at_any_depth_use_the_index(world):
    make_event(world.application)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data, transaction) "
            "SELECT gen_random_uuid(), application_id, '', type, timestamp, data, n "
            "FROM applications_event, generate_series(1, 20000) n"
        )
        cursor.execute("ANALYZE applications_event")
    after = Cursor(10_000, 0)
    chosen = Event.objects.filter(
        application=world.application, transaction__lt=SETTLED, transaction__gte=after.transaction
    )

    plan = chosen.order_by("transaction", "id")[:100].explain()

    assert "event_of_application" in plan
    assert "Sort" not in plan
