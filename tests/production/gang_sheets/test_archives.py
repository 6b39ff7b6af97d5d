"""Press sheets of the board: off unless the provider has them, of jobs one may work on."""

import csv
import io
import zipfile

import pytest
from django.urls import reverse
from pypdf import PdfReader

from fulfillment.core.files import downloads
from production.gang_sheets.services import archives
from production.jobs.models import Job, JobState
from production.providers.models import Provider
from stores.orders.models import OrderItem
from tests.factories.orders import card_data, order_body
from tests.factories.production import accept, make_press, work_off_jobs
from tests.support.orders.shop import Shop

pytestmark = pytest.mark.django_db
BOARD = reverse("admin:production_job_changelist")


def _provider(tmp_path, **settings) -> Provider:
    return make_press(tmp_path, settings=settings)


def _order(shop: Shop, quantity: int) -> None:
    item = {"ProductID": "card-two-sided", "Quantity": quantity, "TemplateData": card_data()}
    response = shop.place(body=order_body(Items=[item]))
    assert response.status_code == 201, response.content
    accept(response.json()["OrderID"])


def _download(client, user) -> zipfile.ZipFile:
    client.force_login(user)
    keys = list(Job.objects.values_list("pk", flat=True))
    response = client.post(BOARD, {"action": "download_gang_sheets", "_selected_action": keys})
    assert response["Content-Type"] == "application/zip"
    return zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))


def test_jobs_of_one_product_share_sheets_that_give_all_that_was_ordered(shop, tmp_path, client):
    _provider(tmp_path, gang_sheets="sheetwise")
    for quantity in (100, 250, 500):
        _order(shop, quantity)
    work_off_jobs()

    archive = _download(client, shop.world.operator)

    assert archive.testzip() is None
    rows = list(csv.DictReader(io.StringIO(archive.read("press/plan.csv").decode())))
    made: dict[str, int] = {}
    for row in rows:
        made[row["Job"]] = made.get(row["Job"], 0) + int(row["Pieces in total"])
    ordered = {job.number: job.item.quantity for job in Job.objects.select_related("item")}
    assert {number: made[number] >= quantity for number, quantity in ordered.items()} == dict.fromkeys(
        ordered, True
    )
    for name in {row["File"] for row in rows}:
        pages = PdfReader(io.BytesIO(archive.read(f"press/{name}"))).pages
        assert len(pages) == 2
        assert float(pages[0].mediabox.width) == pytest.approx(450 * 72 / 25.4, abs=0.1)
    assert "left-out.txt" not in archive.namelist()


def test_name_of_a_sheet_counts_its_overs(shop, tmp_path, client):
    _provider(tmp_path, gang_sheets="sheetwise", gang_overs_least=7)
    _order(shop, 100)
    work_off_jobs()

    archive = _download(client, shop.world.operator)

    [row] = csv.DictReader(io.StringIO(archive.read("press/plan.csv").decode()))
    assert row["Overs"] == "7"
    assert row["File"] == f"sheet-01-run-{int(row['Run']) + 7}.pdf"


def test_left_out_job_is_named_with_its_reason(shop, tmp_path, client):
    provider = _provider(tmp_path)
    _order(shop, 100)
    work_off_jobs()
    job = Job.objects.get()

    archive = _download(client, shop.world.operator)
    assert archive.namelist() == ["left-out.txt"]
    assert archive.read("left-out.txt").decode() == f"{job.number}: gang sheets are off at {provider}.\n"

    Job.objects.update(state=JobState.SHIPPED, next_try=None)
    client.post(BOARD + "?stage=shipped", {"action": "download_gang_sheets", "_selected_action": [job.pk]})
    client.force_login(shop.world.operator)
    response = client.post(
        BOARD + "?stage=shipped", {"action": "download_gang_sheets", "_selected_action": [job.pk]}
    )
    shipped = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    assert shipped.read("left-out.txt").decode() == f"{job.number}: it is shipped.\n"


def test_file_that_would_exceed_an_archive_is_left_out_of_it(shop, tmp_path, client, monkeypatch):
    """Two files of 90 MB took 658 MB of memory."""
    _provider(tmp_path, gang_sheets="sheetwise")
    for quantity in (100, 250):
        _order(shop, quantity)
    work_off_jobs()
    first, second = Job.objects.order_by("pk").select_related("item")
    for most in (first.item.print_bytes + second.item.print_bytes - 1, 1):
        monkeypatch.setattr(archives, "MAX_ARCHIVE_BYTES", most)

        archive = _download(client, shop.world.operator)

        rows = csv.DictReader(io.StringIO(archive.read("press/plan.csv").decode()))
        assert {row["Job"] for row in rows} == {first.number}
        said = archive.read("left-out.txt").decode()
        assert said == f"{second.number}: the archive is full. Select fewer jobs.\n"


def test_archive_is_sent_in_small_pieces(shop, tmp_path, client, monkeypatch):
    _provider(tmp_path, gang_sheets="sheetwise")
    _order(shop, 100)
    work_off_jobs()
    monkeypatch.setattr(downloads, "BLOCK", 1000)
    client.force_login(shop.world.operator)

    response = client.post(
        BOARD, {"action": "download_gang_sheets", "_selected_action": [Job.objects.get().pk]}
    )

    assert max(map(len, response.streaming_content)) == 1000


def test_jobs_of_one_product_on_different_papers_share_no_sheet(shop, tmp_path, client):
    _provider(tmp_path, gang_sheets="sheetwise")
    for quantity in (100, 250, 500):
        _order(shop, quantity)
    work_off_jobs()
    glossy, *others = Job.objects.order_by("pk")
    OrderItem.objects.filter(job=glossy).update(options={"Coating": "Gloss"})
    OrderItem.objects.filter(job__in=others).update(options={"Coating": "Matte"})

    archive = _download(client, shop.world.operator)

    rows = list(csv.DictReader(io.StringIO(archive.read("press/plan.csv").decode())))
    files = {row["File"] for row in rows if row["Job"] == glossy.number}
    assert files
    assert not files & {row["File"] for row in rows if row["Job"] != glossy.number}
