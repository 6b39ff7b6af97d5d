"""Real worker processes, real receivers: what arrives, and when, and after which accidents."""

import asyncio
import random
import signal
import statistics
import subprocess
import sys
import time
from bisect import bisect_right
from pathlib import Path

import pytest
from django.db import connection
from standardwebhooks import Webhook as Verifier

from applications.webhooks.models import Delivery, DeliveryAttempt
from applications.webhooks.selectors.deliveries import alive_workers
from applications.webhooks.services.deliveries import send_test_event
from fulfillment.management.commands.worker import Stuck, end_tasks
from stores.orders.models import Order
from tests.factories.applications import ApplicationFactory
from tests.factories.orders import make_product, order_body
from tests.factories.webhooks import make_event, make_webhook
from tests.support.patience import PATIENCE, ROUNDS, wait_for
from tests.support.servers.queued_jobs import mail_owners
from tests.support.servers.webhook_receiver import Receiver, receiving
from tests.support.servers.workers import (
    LEASE,
    ROOT,
    forget_jobs,
    kill,
    start_worker,
    stop,
    worker_environment,
    working,
)

# Mails go to the output of the worker.
CONSOLE = "django.core.mail.backends.console.EmailBackend"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("this_machine_allowed", "_no_jobs"),
]


@pytest.fixture
def _no_jobs(transactional_db):
    forget_jobs()


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


def states() -> set[str]:
    return set(Delivery.objects.values_list("state", flat=True))


def is_all_delivered() -> bool:
    return states() == {"Delivered"}


def test_event_arrives_signed_within_a_second_and_failures_are_repeated(world, receiver):
    webhook = make_webhook(world.application, receiver.url())
    with working() as workers:
        make_event(world.application)
        receiver.wait_for(1)
        # The marks stand for a machine of its own: beside other tests one of several rounds must reach them.
        delays: list[float] = []
        while not delays or (delays[-1] >= 1 and len(delays) < ROUNDS):
            started, count = time.time(), len(receiver.received)
            event = make_event(world.application, data={"Sequence": count + 1})
            received = receiver.wait_for(count + 1)[count]
            delays.append(received.moment - started)
        wait_for(is_all_delivered)
        webhook.url = receiver.url("/status/503")
        webhook.save()
        count, failing = len(receiver.received), []
        while not failing or (seconds_between_tries(failing[-1]) >= 8 and len(failing) < ROUNDS):
            failing.append(send_test_event(webhook=webhook))
            wait_for(lambda: DeliveryAttempt.objects.filter(delivery=failing[-1]).count() >= 2)
        assert alive_workers() == 1
        assert stop(workers.pop()) == 0

    assert min(delays) < 1
    sent = Verifier(webhook.known_secret).verify(received.body, received.headers)
    assert sent["EventID"] == received.headers["webhook-id"] == str(event.event_id)
    # The second try comes 5 seconds later.
    assert 4 < min(map(seconds_between_tries, failing)) < 8
    refused = {delivery.headers["webhook-id"] for delivery in receiver.received[count:]}
    assert refused == {str(each.event.event_id) for each in failing}
    assert alive_workers() == 0


def seconds_between_tries(delivery: Delivery) -> float:
    first, second = DeliveryAttempt.objects.filter(delivery=delivery).order_by("timestamp")[:2]
    return (second.timestamp - first.timestamp).total_seconds()


def test_hanging_endpoint_does_not_delay_the_others(world, receiver):
    make_webhook(world.application, receiver.url("/hang"))
    for _ in range(3):
        make_webhook(world.application, receiver.url("/ok"))
    delays: list[float] = []
    with working():
        # The mark stands for a machine of its own: beside other tests one of several rounds must reach it.
        for _ in range(ROUNDS):
            before = len(arrived(receiver))
            for _ in range(60):
                make_event(world.application, data={"At": time.time()})
                time.sleep(0.02)
            wait_for(lambda before=before: len(arrived(receiver)) >= before + 180)
            delays = [
                delivery.moment - delivery.event["Data"]["At"] for delivery in arrived(receiver)[before:]
            ]
            if statistics.quantiles(delays, n=20)[-1] < 1 and statistics.median(delays) <= 0.3:
                break

    assert statistics.quantiles(delays, n=20)[-1] < 1
    assert statistics.median(delays) <= 0.3
    # A limit holds for each webhook, however much waits for it.
    assert most_at_once(receiver, "/hang") <= 16


def most_at_once(receiver: Receiver, path: str) -> int:
    """Requests that hang hold their places for 15 seconds: all that begin within 5 of them are under way together."""
    moments = sorted(delivery.moment for delivery in receiver.received if delivery.path == path)
    return max((bisect_right(moments, moment + 5) - at for at, moment in enumerate(moments)), default=0)


def open_files(worker) -> int:
    return len(list(Path(f"/proc/{worker.pid}/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts the files of another process")
def test_unreachable_endpoints_of_many_applications_take_neither_files_nor_time_of_others(
    world, receiver, settings, tmp_path
):
    """Four applications with twenty webhooks each that never answer, and one beside them that does."""
    dead = ApplicationFactory.create_batch(4)
    for application in dead:
        for _ in range(20):
            make_webhook(application, receiver.url("/hang"))
    make_webhook(world.application, receiver.url("/ok"))
    output, most = tmp_path / "output", 0
    with output.open("wb") as file, working(output=file, EMAIL_BACKEND=CONSOLE) as workers:
        # The first one waits for the worker to start.
        make_event(world.application, data={"At": time.time()})
        receiver.wait_for(1)
        # The mark stands for a machine of its own: beside other tests one of several rounds must reach it.
        for turn in range(ROUNDS):
            before = len(arrived(receiver))
            for number in range(40):
                for application in dead:
                    make_event(application, data={"At": number})
                if (turn, number) == (0, 20):
                    mail_owners(application=world.application, subject="Another job", text="Look.")
                make_event(world.application, data={"At": time.time()})
                most = max(most, open_files(workers[0]))
                time.sleep(0.02)
            wait_for(lambda before=before: len(arrived(receiver)) >= before + 40)
            delays = [
                delivery.moment - delivery.event["Data"]["At"] for delivery in arrived(receiver)[before:]
            ]
            if statistics.quantiles(delays, n=20)[-1] < 1:
                break
        wait_for(lambda: mail_jobs() == 0)
        most = max(most, open_files(workers[0]))

    # Half of the places, kept connections and what the worker has open itself.
    assert most < 1.5 * settings.WEBHOOK_CONNECTIONS
    assert most_at_once(receiver, "/hang") <= settings.WEBHOOK_CONNECTIONS // 2
    assert b"Another job" in output.read_bytes()
    assert b"Too many open files" not in output.read_bytes()
    assert statistics.quantiles(delays, n=20)[-1] < 1
    # Deliveries without a slot stay unclaimed, and are sent when one is free.
    assert Delivery.objects.filter(state="Pending", tries=0).exists()


class LateReceiver(Receiver):
    """At `/late/…` the first answer comes at once, and all later ones after eight seconds: good, but slow."""

    async def answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        if path.startswith("/late/") and sum(delivery.path == path for delivery in self.received) > 1:
            await asyncio.sleep(8)
        await super().answer(path, writer)


def test_slow_good_endpoints_of_one_person_leave_places_to_others(world):
    """Five applications of a person hold as many requests as they may, and all are answered well at last."""
    slow = ApplicationFactory.create_batch(5, user=world.outsider)
    with receiving(LateReceiver()) as receiver:
        make_webhook(world.application, receiver.url("/ok"))
        for number in range(15):
            make_webhook(slow[number // 3], receiver.url(f"/late/{number}"))
        with working():
            for application in (*slow, world.application):
                make_event(application, data={"At": time.time()})
            receiver.wait_for(16)
            wait_for(is_all_delivered)
            for application in slow * 30:
                make_event(application)
            # Until the slow ones hold all that they get.
            time.sleep(2)
            for _ in range(10):
                make_event(world.application, data={"At": time.time()})
                time.sleep(0.1)
            wait_for(lambda: len(arrived(receiver)) == 11)
            delays = [delivery.moment - delivery.event["Data"]["At"] for delivery in arrived(receiver)[1:]]

    assert statistics.median(delays) < 1


def arrived(receiver: Receiver) -> list:
    return [delivery for delivery in receiver.received if delivery.path == "/ok"]


def test_killed_workers_lose_nothing_and_order_is_recoverable(world, receiver):
    """Orders tell their whole life while workers are killed at any moment and others take their place."""
    make_webhook(world.application, receiver.url())
    orders, steps = 20, 10
    chance = random.Random(6)
    with working(2, **{LEASE: "3"}) as workers:
        for step in range(1, steps + 1):
            for order in range(orders):
                make_event(world.application, data={"OrderID": order, "Sequence": step})
            if step % 4 == 0:
                time.sleep(chance.uniform(0, 0.3))
                kill(workers.pop(chance.randrange(len(workers))))
                workers.append(start_worker(**{LEASE: "3"}))
        wait_for(is_all_delivered)

    reported: dict[int, set[int]] = {}
    for received in receiver.received:
        data = received.event["Data"]
        reported.setdefault(data["OrderID"], set()).add(data["Sequence"])
    assert reported == {order: set(range(1, steps + 1)) for order in range(orders)}
    assert len({delivery.headers["webhook-id"] for delivery in receiver.received}) == orders * steps


def test_worker_survives_losing_every_connection(world, receiver):
    """As a restart of PostgreSQL does, in the middle of its work."""
    make_webhook(world.application, receiver.url())
    with working(**{LEASE: "3"}) as workers:
        for number in range(90):
            make_event(world.application)
            if number % 30 == 20:
                with connection.cursor() as cursor:
                    cursor.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
        wait_for(is_all_delivered)
        assert workers[0].poll() is None

    assert len({delivery.headers["webhook-id"] for delivery in receiver.received}) == 90


async def deaf(times: int) -> None:
    """Loses so many cancellations, as a statement does whose connection breaks at that moment."""
    while times:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            times -= 1
    await asyncio.sleep(60)


def test_lost_cancellation_is_repeated():
    async def run() -> bool:
        task = asyncio.create_task(deaf(2))
        await asyncio.sleep(0)
        await end_tasks([task], patience=0.02)
        return task.cancelled()

    assert asyncio.run(run())


def test_task_that_never_ends_is_abandoned_and_named():
    async def run() -> None:
        task = asyncio.create_task(deaf(20), name="stalled jobs")
        await asyncio.sleep(0)
        try:
            await end_tasks([task], patience=0.02, limit=0.1)
        finally:
            await end_tasks([task], patience=0.001)

    with pytest.raises(Stuck, match="stalled jobs"):
        asyncio.run(run())


def test_process_that_hangs_while_it_ends_is_left_in_time():
    module = "fulfillment.management.commands.worker"
    code = (
        f"import time, django; django.setup(); import {module} as w; w.STOP_SECONDS = 0.2; w._exit_in_time()"
    )
    command = [sys.executable, "-c", f"{code}; time.sleep(60)"]

    ended = subprocess.run(
        command, cwd=ROOT, env=worker_environment(), stderr=subprocess.PIPE, timeout=PATIENCE
    )

    assert (ended.returncode, b"did not end" in ended.stderr) == (1, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_worker_without_a_database_ends_when_stopped(number, tmp_path):
    output = tmp_path / "output"
    with output.open("wb") as file:
        worker = start_worker(file, DATABASE_URL="postgresql://nobody@127.0.0.1:1/nothing")
    try:
        wait_for(lambda: b"error connecting" in output.read_bytes())
        worker.send_signal(number)
        # What ends later than STOP_SECONDS ends itself, with another code.
        assert worker.wait(timeout=PATIENCE) == 0
    finally:
        kill(worker)


def test_jobs_of_a_worker_that_fell_silent_are_done_by_another(world, tmp_path):
    mail_owners(application=world.application, subject="A webhook fails", text="Look.")
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH silent AS (INSERT INTO procrastinate_workers (last_heartbeat) "
            "VALUES (now() - interval '31 seconds') RETURNING id) "
            "UPDATE procrastinate_jobs SET status = 'doing', worker_id = silent.id FROM silent"
        )
    output = tmp_path / "output"
    with output.open("wb") as file, working(output=file, EMAIL_BACKEND=CONSOLE):
        wait_for(lambda: b"A webhook fails" in output.read_bytes())
        wait_for(lambda: mail_jobs() == 0)

    assert b"To: user@print.example" in output.read_bytes()


def mail_jobs() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'applications.send_mail'")
        return cursor.fetchone()[0]


def test_demo_orders_advance_by_themselves(world, receiver):
    make_product(world.demo)
    make_webhook(world.application, receiver.url(), event_types=["order.*"])
    order = world.as_application().call("POST", "/store/demo/order", order_body()).json()
    with working(DEMO_ADVANCE_SECONDS="1"):
        wait_for(lambda: Order.objects.get(pk=order["OrderID"]).status >= 40)
        received = receiver.wait_for(3)

    assert [delivery.event["Type"] for delivery in received][:3] == [
        "order.received",
        "order.accepted",
        "order.in_production",
    ]
    assert [delivery.event["Data"]["Sequence"] for delivery in received][:3] == [1, 2, 3]
