"""Print files of different presets never share a sheet, and tickets name the preset that made the file."""

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone
from lxml import etree

from accounts.callers import Caller
from production.gang_sheets.models import GangSheet
from production.jobs.models import Job
from production.jobs.services.adapter_jobs import build_adapter_job
from production.tickets import write_json_ticket, write_xjdf
from stores.catalog.models import Product
from stores.orders.models import Order, OrderItem
from stores.orders.services.reprints import reprint_order
from stores.presets.models import Policy, PrintPreset
from tests.factories.orders import card_data, order_body
from tests.factories.presets import PrintPresetFactory
from tests.factories.production import accept, make_provider, make_rule, work_off_jobs
from tests.support.orders.shop import Shop

pytestmark = pytest.mark.django_db
BOARD = reverse("admin:production_job_changelist")
SPACES = {"x": "http://www.CIP4.org/JDFSchema_2_0"}


@pytest.fixture
def managed() -> PrintPreset:
    return PrintPresetFactory(code="managed-j", name="Managed J", policy=Policy.MANAGED)


@pytest.fixture
def cmyk() -> PrintPreset:
    return PrintPresetFactory(code="cmyk-j", name="CMYK J")


def print_by(preset: PrintPreset | None) -> None:
    Product.objects.filter(external_id="card-two-sided").update(preset=preset)


def place(shop: Shop) -> str:
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    response = shop.place(body=order_body(Items=[item]))
    assert response.status_code == 201, response.content
    return str(response.json()["OrderID"])


def jobs_of(orders: Sequence[str]) -> list[Job]:
    for order in orders:
        accept(order)
    work_off_jobs()
    return list(Job.objects.filter(order__in=orders).select_related("order__store", "item").order_by("pk"))


def place_by_each(shop: Shop, managed: PrintPreset, cmyk: PrintPreset, *, changed: bool = False) -> list[str]:
    """By the one preset, the other, and the first again; then, if wanted, by the first after a change of it."""
    orders = []
    for preset in (managed, cmyk, managed):
        print_by(preset)
        orders.append(place(shop))
    if changed:
        PrintPreset.objects.filter(pk=managed.pk).update(policy=Policy.CMYK)
        orders.append(place(shop))
    print_by(cmyk)
    return orders


def test_files_of_different_presets_wait_for_different_sheets(shop, press, managed, cmyk):
    jobs = jobs_of(place_by_each(shop, managed, cmyk, changed=True))
    sheets = [job.gang_sheet for job in jobs]
    GangSheet.objects.update(next_try=timezone.now())

    work_off_jobs()

    codes = ["managed-j", "cmyk-j", "managed-j", "managed-j"]
    assert sheets[0] == sheets[2]
    assert len(set(sheets)) == 3
    assert [sheet.kind.rsplit(", preset ")[1].split()[0] for sheet in sheets if sheet] == codes
    folder = Path(press.settings["folder"])
    tickets = [json.loads((folder / f"{sheet}/{sheet}.json").read_bytes()) for sheet in sheets]
    assert [ticket["Options"]["Print preset"] for ticket in tickets] == codes


def test_sheets_made_by_hand_do_not_mix_presets(shop, tmp_path, client, managed, cmyk):
    make_rule(make_provider(tmp_path, settings={"gang_sheets": "sheetwise"}))
    jobs = jobs_of(place_by_each(shop, managed, cmyk))
    client.force_login(shop.world.operator)

    keys = [job.pk for job in jobs]
    response = client.post(BOARD, {"action": "download_gang_sheets", "_selected_action": keys})

    archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    rows = list(csv.DictReader(io.StringIO(archive.read("press/plan.csv").decode())))
    together = {
        frozenset(row["Job"] for row in rows if row["File"] == sheet_row["File"]) for sheet_row in rows
    }
    assert together == {frozenset({jobs[0].number, jobs[2].number}), frozenset({jobs[1].number})}


def test_tickets_and_page_name_the_preset_of_the_file_also_of_a_reprint(shop, press, client, managed, cmyk):
    print_by(managed)
    order = Order.objects.get(pk=place(shop))
    print_by(cmyk)
    caller = Caller.on_pages(shop.world.operator)
    again = reprint_order(order=order, positions=[0], caller=caller, known_reprints=0)
    client.force_login(shop.world.operator)

    for job in jobs_of([str(order.pk), str(again.pk)]):
        sent = build_adapter_job(job)
        features = etree.fromstring(write_xjdf(sent)).findall(".//x:GeneralID", SPACES)
        named = {feature.get("IDUsage"): feature.get("IDValue") for feature in features}
        page = client.get(reverse("admin:production_job_change", args=[job.pk])).content.decode()

        assert json.loads(write_json_ticket(sent))["Options"]["Print preset"] == "managed-j"
        assert named["Print-preset"] == "managed-j"
        assert "Managed J" in page
        assert "cmyk-j" not in page


def test_item_that_kept_no_preset_has_that_of_its_product(shop, press, managed):
    orders = [place(shop)]
    print_by(managed)

    [job] = jobs_of(orders)
    assert "Print preset" not in build_adapter_job(job).item.options

    OrderItem.objects.update(print_preset=None)
    item = build_adapter_job(job).item
    assert (item.options["Print preset"], item.preset) == ("managed-j", "managed-j")
