"""Which jobs share a sheet, by what they are made of, and what its ticket says of all of them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.utils import timezone

from printing.imposition import PressSheet, plan_sheets
from production.gang_sheets.models import GangSheet
from production.gang_sheets.services.building import _sheet_item, gang_request, sheet_kind
from production.jobs.models import Job
from production.jobs.services import adapter_jobs
from production.jobs.services.adapter_jobs import build_adapter_job
from stores.orders.models import OrderItem
from tests.factories.orders import card_data, order_body
from tests.factories.production import accept, work_off_jobs
from tests.support.orders.shop import Shop

pytestmark = pytest.mark.django_db
# A box of the template shows it.
DRAWN = "Name"


def order(shop: Shop) -> Job:
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    accept(shop.place(body=order_body(Items=[item])).json()["OrderID"])
    return Job.objects.latest("pk")


def kinds_of(job: Job, **changes: object) -> tuple[object, str]:
    """On downloaded sheets, and on those that the provider gets."""
    OrderItem.objects.filter(job=job).update(**changes)
    sent = build_adapter_job(Job.objects.get(pk=job.pk), is_stamped=False)
    request = gang_request(sent)
    return request.kind, sheet_kind(sent, request)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"options": {"Corners": "Square"}}, {"options": {"Corners": "Rounded"}}),
        ({"options": {}}, {"options": {"Coating": "Glossy"}}),
        ({"options": {"Laminate": "x" * 300 + "a"}}, {"options": {"Laminate": "x" * 300 + "b"}}),
        ({"finishing": {"stock_code": "SILK"}}, {"finishing": {"stock_code": "FELT"}}),
        ({"finishing": {"stock_weight_gsm": 300}}, {"finishing": {"stock_weight_gsm": 350}}),
        ({"finishing": {"coating": "Gloss"}}, {"finishing": {"coating": "Matte"}}),
        ({"finishing": {"finish": "Foil"}}, {"finishing": {"finish": ""}}),
        ({"finishing": {"folding": "F4-1"}}, {"finishing": {"folding": "F6-1"}}),
    ],
)
def test_pieces_that_are_made_otherwise_share_no_sheet(shop, press, first, second):
    job = order(shop)

    one, other = kinds_of(job, **first), kinds_of(job, **second)

    assert one[0] != other[0]
    assert one[1] != other[1]
    assert max(len(one[1]), len(other[1])) <= 300


def test_pieces_that_are_drawn_otherwise_share_a_sheet(shop, press):
    job = order(shop)
    assert kinds_of(job, options={DRAWN: "Open house"}) == kinds_of(job, options={DRAWN: "Just sold"})


def test_paper_that_the_template_names_is_still_another_paper(shop, press, monkeypatch):
    monkeypatch.setattr(adapter_jobs, "_drawn_options", lambda product: frozenset({"Coating"}))
    job = order(shop)

    glossy, matte = (kinds_of(job, options={"Coating": name}) for name in ("Gloss", "Matte"))

    assert glossy[0] != matte[0]
    assert glossy[1] != matte[1]


def test_ticket_of_a_sheet_states_the_options_of_all_its_jobs(shop, press):
    for value in ("Open house", "Just sold"):
        options = {DRAWN: value, "Corners": "Rounded"}
        OrderItem.objects.filter(job=order(shop)).update(options=options, label=f"Row of {value}")
    work_off_jobs()
    GangSheet.objects.update(next_try=timezone.now())
    work_off_jobs()

    [name] = Path(press.settings["folder"]).glob("G*/G*.json")
    ticket = json.loads(name.read_bytes())

    assert ticket["Options"] == {"Corners": "Rounded"}
    assert "Label" not in ticket["Order"]
    assert [job["Options"][DRAWN] for job in ticket["Jobs"]] == ["Open house", "Just sold"]
    assert [job["Order"]["Label"] for job in ticket["Jobs"]] == ["Row of Open house", "Row of Just sold"]


def test_ticket_of_a_sheet_names_the_plates_of_all_its_jobs(shop, press):
    built_job = build_adapter_job(order(shop), is_stamped=False)
    plan = plan_sheets([gang_request(built_job)], PressSheet())
    sent = [
        replace(built_job, item=replace(built_job.item, spot_plates=names))
        for names in ([], ["Gold", "Dark"], ["Gold"])
    ]

    assert _sheet_item(plan, sent).spot_plates == ["Dark", "Gold"]
