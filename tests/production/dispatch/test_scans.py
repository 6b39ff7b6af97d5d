"""Codes read on the shop floor: each counts once, moves its job, and missing pieces are printed from the same file."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from accounts.permissions import Permission
from production.dispatch.services.actions import cancel_job
from production.dispatch.services.scans import record_scan
from production.gang_sheets.models import GangSheet
from production.jobs.models import Job, JobState, Scan, ScanStep
from production.jobs.services.adapter_jobs import build_adapter_job, stamped_content
from stores.orders.models import OrderStatus
from stores.orders.services.print_files import read_print_file
from tests.factories.orders import card_data, order_body
from tests.factories.production import STORE, accept, make_provider, make_rule, only_job, work_off_jobs
from tests.support.orders.shop import Shop
from tests.support.scenario import sign_in

pytestmark = pytest.mark.django_db
PAGE = reverse("admin:production_job_scan")


@pytest.fixture
def folder(settings, tmp_path):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    make_rule(make_provider(tmp_path))
    return tmp_path / "press" / "in"


@pytest.fixture
def job(world, folder) -> Job:
    """At the provider, with a print file."""
    accept(Shop(world).place(body=order_body()).json()["OrderID"])
    work_off_jobs()
    return only_job()


@pytest.fixture
def scan(world, client):
    operator = sign_in(client, world.operator)

    def send(code, step="Printed", **more):
        body = {"id": str(uuid.uuid4()), "code": str(code), "step": step, **more}
        return operator.post(PAGE, body)

    return send


def words(response, status=200):
    assert response.status_code == status, response.content
    return response.json()["words" if status == 200 else "problem"]


def test_printed_job_is_in_production_and_its_order_too(scan, job, world):
    assert words(scan(job.number)) == f"{job.number}, {job.item.product_name}: printed, 100 pieces."

    now = only_job()
    assert (now.state, now.order.status) == (JobState.IN_PRODUCTION, OrderStatus.IN_PRODUCTION)
    entry = now.history.last()
    assert (entry.note, entry.actor) == ("Printed, scanned.", world.operator)


def test_scan_sent_twice_counts_once(scan, job):
    same = str(uuid.uuid4())

    answers = [words(scan(job.number, "Missing", pieces="7", id=same)) for _ in range(2)]

    assert answers[0] == answers[1]
    assert (Scan.objects.count(), only_job().number) == (1, f"{job.number}-2")


def test_step_that_is_known_is_not_recorded_again(scan, job):
    scan(job.number, "Cut")

    assert "cut already" in words(scan(job.number, "Cut"))
    assert Scan.objects.count() == 1
    assert job.history.filter(note="Cut, scanned.").count() == 1


def test_packed_job_says_how_much_of_its_order_is_packed(scan, world, folder):
    item = order_body()["Items"][0]
    items = [{**item, "ItemKey": key} for key in "ab"]
    accept(Shop(world).place(body=order_body(Items=items)).json()["OrderID"])
    work_off_jobs()
    first, second = Job.objects.order_by("pk")

    assert words(scan(first.number, "Packed")).endswith("1 of 2 jobs of the order are packed.")
    assert words(scan(second.number, "Packed")).endswith("2 of 2 jobs of the order are packed.")


def test_packed_job_that_was_not_scanned_before_says_so(scan, job):
    said = words(scan(job.number, "Packed"))

    assert f" {job.number}: not scanned as printed or cut. " in said
    assert said.endswith("1 of 1 jobs of the order are packed.")


@pytest.mark.parametrize("step", ["Printed", "Cut"])
def test_packed_job_that_was_printed_or_cut_says_nothing_of_it(scan, job, step):
    scan(job.number, step)

    assert "not scanned" not in words(scan(job.number, "Packed"))


def test_reprint_that_was_not_scanned_says_so(scan, job):
    scan(job.number, "Printed")
    scan(job.number, "Missing", pieces="7")
    work_off_jobs()

    assert f" {job.number}-2: not scanned as printed or cut. " in words(scan(job.number, "Packed"))


def test_missing_pieces_are_printed_again_from_the_kept_file(scan, world, folder):
    shop = Shop(world)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    accept(shop.place(body=order_body(Items=[item])).json()["OrderID"])
    work_off_jobs()
    number = only_job().number
    assert words(scan(number, "Missing", pieces="7")).endswith(f"7 missing, printed again as {number}-2.")
    work_off_jobs()

    job = only_job()
    assert (job.state, job.order.status, job.item.quantity) == (JobState.SENT, OrderStatus.ACCEPTED, 100)
    name = f"{number}-2"
    again = (folder / name / f"{name}.pdf").read_bytes()
    ticket = json.loads((folder / name / f"{name}.json").read_bytes())
    assert (ticket["Quantity"], ticket["Note"]) == (7, "Reprint: 7 of 100 pieces were missing.")
    assert json.loads((folder / number / f"{number}.json").read_bytes())["Note"] == ""
    assert again == stamped_content(job.item, name, read_print_file(item=job.item), pieces=7)
    [address] = [file.url for file in build_adapter_job(job).files]
    fetched = Client().get(address.removeprefix("http://127.0.0.1:8000"))
    assert fetched.content == again


def test_code_of_a_gang_sheet_counts_once_for_each_of_its_jobs(scan, world, settings, tmp_path):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    make_rule(make_provider(tmp_path, settings={"gang_sheets": "sheetwise", "gang_pieces": 1000}))
    shop = Shop(world)
    item = {"ProductID": "card-two-sided", "Quantity": 500, "TemplateData": card_data()}
    for _ in range(2):
        accept(shop.place(body=order_body(Items=[item])).json()["OrderID"])
        work_off_jobs()
    GangSheet.objects.update(next_try=timezone.now())
    work_off_jobs()
    sheet, same = GangSheet.objects.get(), str(uuid.uuid4())

    for _ in range(2):
        assert words(scan(sheet.number, "Printed", id=same)) == f"{sheet}: printed, 2 of 2 jobs."

    assert [scan.step for scan in Scan.objects.all()] == ["Printed"] * 2
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.IN_PRODUCTION}
    assert "Type the number beside the pieces" in words(
        scan(sheet.number.lower(), "Missing", pieces="7"), 400
    )
    assert scan(f"{sheet.number}-2").status_code == scan(f"G{sheet.pk + 1}").status_code == 404

    Job.objects.filter(pk=Job.objects.first().pk).update(state=JobState.SHIPPED)
    told = words(scan(sheet.number, "Cut"), 409)
    assert told.startswith(f"{sheet}: cut, 1 of 2 jobs. ")
    assert "is shipped" in told


def test_reprint_is_scanned_under_its_number_and_that_of_the_first_sheets(scan, job):
    scan(job.number, "Printed")
    scan(job.number, "Missing", pieces="7")
    work_off_jobs()

    assert words(scan(f"{job.number}-2", "Printed")).endswith("printed, 7 pieces.")
    assert words(scan(job.number, "Packed")).startswith(f"{job.number}-2, ")
    assert scan(f"{job.number}-3").status_code == scan(f"{job.number}2").status_code == 404


@pytest.mark.parametrize("pieces", ["", "0", "101"])
def test_as_many_are_missing_as_were_printed(scan, job, pieces):
    response = scan(job.number, "Missing", pieces=pieces)

    assert words(response, 400) == "Enter how many of the 100 pieces are missing."
    assert (only_job().number, Scan.objects.count()) == (job.number, 0)


def test_job_that_is_cancelled_or_unsent_is_refused(scan, job):
    scan(job.number, "Missing", pieces="7")
    assert "queued, so it is not printed now" in words(scan(job.number), 409)
    work_off_jobs()
    cancel_job(job=only_job(), actor=STORE)
    assert "being cancelled, so it is not printed now" in words(scan(job.number), 409)
    work_off_jobs()
    assert "cancelled, so it is not printed now" in words(scan(job.number), 409)


@pytest.mark.parametrize("sent", [{"id": "1"}, {"step": "Folded"}, {"code": ""}, {"at": "now"}])
def test_what_is_no_scan_is_refused_by_name(scan, job, sent):
    assert (
        words(scan(**{"code": job.number, **sent}), 400)
        == f"The scan cannot be read. These fields are missing or wrong: {next(iter(sent))}."
    )


def test_time_of_a_scan_is_kept_within_a_day_and_never_ahead(scan, job):
    now = timezone.now()
    times = {"Printed": now - timedelta(minutes=1), "Cut": now + timedelta(days=3), "Packed": now.min}
    for step, at in times.items():
        scan(job.number, step, at=at.isoformat() if step != "Packed" else "0001-01-01T00:00:00Z")

    found = {scan.step: scan.at for scan in Scan.objects.all()}
    assert found["Printed"] == times["Printed"]
    assert now < found["Cut"] <= timezone.now()
    assert found["Packed"] > now - timedelta(days=1)


def test_only_who_may_move_orders_of_the_store_scans_its_jobs(world, client, job):
    client.force_login(world.outsider)
    body = {"id": str(uuid.uuid4()), "code": job.number, "step": "Printed"}
    assert client.post(PAGE, body).status_code in (302, 403)

    Role.objects.create(user=world.outsider, store=world.unassociated, grant=Permission.ORDER_ALL_WRITE)
    assert words(client.post(PAGE, body), 404) == "There is no job with this number here."
    role = Role.objects.create(user=world.outsider, store=job.store, grant=Permission.ORDER_ALL_READ)
    assert client.post(PAGE, body).status_code == 404

    role.delete()
    Role.objects.create(user=world.outsider, store=job.store, grant=Permission.ORDER_ALL_WRITE)
    assert client.post(PAGE, body).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_devices_that_send_one_scan_reprint_once(job):
    same = uuid.uuid4()

    def send(_):
        try:
            return record_scan(
                job=job, scan_id=same, step=ScanStep.MISSING, pieces=7, at=None, actor=STORE
            ).number
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(send, range(4))) == {job.number}
    assert (only_job().number, Scan.objects.count()) == (f"{job.number}-2", 1)
