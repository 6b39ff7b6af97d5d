"""What a job says beside its print file: the options of the item, and the papers of an EDDM mailing."""

import hashlib
import io
import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pikepdf
import pytest
from django.db.models import F
from django.test import Client
from lxml import etree
from pypdf import PdfReader

from accounts.callers import Caller
from printing.imposition import Stamp, spot_plates, stamp_file
from production.adapters.sftp_drop import drop_files
from production.adapters.siteflow_orders import siteflow_order
from production.interface import AdapterJob
from production.jobs.models import Job
from production.jobs.services.adapter_jobs import build_adapter_job, stamped_content
from production.providers.models import Provider
from production.providers.services import ProviderValues, save_provider
from production.routing.models import RoutingChoice
from production.tickets import write_jdf, write_json_ticket, write_xjdf
from stores.catalog.models import Product, TemplateField
from stores.orders.business_days import ship_day
from stores.orders.models import Order, OrderItem
from stores.orders.selectors.items import item_options
from stores.orders.services.print_files import read_print_file
from stores.orders.services.reprints import reprint_order
from tests.factories.eddm import make_selection
from tests.factories.orders import card_data, design_data, make_card, make_design, make_product, order_body
from tests.factories.production import accept, make_provider, make_rule, only_job, work_off_jobs
from tests.support.orders.shop import Shop, open_shop
from tests.support.printing.document_making import document
from tests.support.production.jobs import job_file, made_job
from tests.support.production.siteflow import SECRET, running_siteflow

pytestmark = pytest.mark.django_db
SPACES = {"x": "http://www.CIP4.org/JDFSchema_2_0"}
CHOICES = {
    "Corners": (["Square", "Rounded"], "Square"),
    "Coating": (["Gloss", "Matte"], "Matte"),
    "Folding Edge": (["Long", "Short"], "Long"),
}
FIELDS = [
    {
        "Required": False,
        "Type": "Choice",
        "SubType": "List",
        "FieldName": name,
        "Prompt": name,
        "DefaultValue": default,
        "OrgValue": "",
        "Choices": choices,
    }
    for name, (choices, default) in CHOICES.items()
]
SITEFLOW = {
    "products": "",
    "carriers": "",
    "destination": "press",
    "component_code": "body",
    "attributes": "Coating = finish",
}


@pytest.fixture
def shop(world, settings, tmp_path) -> Shop:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    make_rule(make_provider(tmp_path))
    return open_shop(world)


PAPER = {
    "StockCode": "SILK-350",
    "StockWeightGSM": 350,
    "Coating": "Satin",
    "Finish": "Soft-touch lamination",
    "Binding": "SaddleStitch",
    "BindingEdge": "Top",
    "Folding": "F4-1",
}


def place_on(shop: Shop, moment: str, *, items: int = 1, **values: Any) -> list[Job]:
    """The jobs of an order that was placed at a moment."""
    listed = [{"ProductID": "card", "Quantity": 100}] * items
    response = shop.place(body=order_body(Items=listed, **values))
    assert response.status_code == 201, response.content
    order = Order.objects.filter(pk=response.json()["OrderID"])
    order.update(created=datetime.fromisoformat(moment), latest_delivery=date(2026, 12, 3))
    accept(order.get())
    return list(Job.objects.select_related("order__store", "provider").order_by("pk"))


def test_deadline_is_the_day_the_job_must_leave_and_not_that_of_delivery(shop):
    shop.store.time_zone = "America/Denver"
    shop.store.save()
    [job] = place_on(shop, "2026-11-23T20:00:00Z")

    ticket = json.loads(write_json_ticket(build_adapter_job(job)))
    xjdf = etree.fromstring(write_xjdf(build_adapter_job(job)))

    assert str(job.due) == ticket["ShipBy"] == "2026-11-26"
    assert (ticket["DeliverBy"], ticket["ProductionDays"], ticket["Rush"]) == ("2026-12-03", 3, False)
    node = xjdf.find(".//x:NodeInfo", SPACES)
    assert (node.get("LastEnd"), node.get("JobPriority")) == ("2026-11-26T23:59:59-07:00", None)
    assert xjdf.find(".//x:DeliveryParams", SPACES).get("Required") == "2026-12-03T23:59:59-07:00"
    shipment = siteflow_order(with_address(build_adapter_job(job)), SITEFLOW)["orderData"]["shipments"][0]
    assert (shipment["shipByDate"], shipment["slaDays"]) == ("2026-11-26T23:59:59-07:00", 3)


def test_order_faster_than_usual_is_marked_as_a_rush(shop):
    [job] = place_on(shop, "2026-11-23T20:00:00Z", ProductionDays=1)

    ticket = json.loads(write_json_ticket(build_adapter_job(job)))
    node = etree.fromstring(write_xjdf(build_adapter_job(job))).find(".//x:NodeInfo", SPACES)

    assert (ticket["ShipBy"], ticket["ProductionDays"], ticket["Rush"]) == ("2026-11-24", 1, True)
    assert node.get("JobPriority") == "90"


def test_items_of_one_order_at_one_provider_name_each_other(shop, tmp_path):
    jobs = place_on(shop, "2026-11-23T20:00:00Z", items=4)
    other = make_provider(tmp_path, "other")
    Job.objects.filter(pk__in=[job.pk for job in jobs[:3]]).update(
        provider=jobs[0].provider or Provider.objects.get(code="press")
    )
    Job.objects.filter(pk=jobs[3].pk).update(provider=other)

    second = Job.objects.select_related("order__store").get(pk=jobs[1].pk)
    alone = Job.objects.select_related("order__store").get(pk=jobs[3].pk)
    ticket = json.loads(write_json_ticket(build_adapter_job(second)))
    single = json.loads(write_json_ticket(build_adapter_job(alone)))

    assert (ticket["Items"], ticket["ItemNumber"]) == (3, 2)
    assert ticket["Siblings"] == [jobs[0].number, jobs[2].number]
    assert (single["Items"], single["ItemNumber"], single["Siblings"]) == (1, 1, [])
    said = etree.fromstring(write_xjdf(build_adapter_job(second))).findall("x:GeneralID", SPACES)
    named = [(feature.get("IDUsage"), feature.get("IDValue")) for feature in said]
    assert ("ItemOfOrder", "2 of 3") in named
    assert ("Sibling", jobs[2].number) in named


def test_paper_and_finishing_of_the_product_are_in_every_ticket(shop):
    make_product(shop.store, "booklet", **PAPER)
    job = build_adapter_job(sent(shop, {"ProductID": "booklet", "Quantity": 100}))

    ticket = json.loads(write_json_ticket(job))
    product = etree.fromstring(write_xjdf(job)).find("x:ProductList/x:Product", SPACES)

    assert ticket["Stock"] == {"Code": "SILK-350", "WeightGSM": 350, "Coating": "Satin"}
    assert (ticket["Finish"], ticket["Binding"], ticket["Folding"]) == (
        "Soft-touch lamination",
        "SaddleStitch",
        "F4-1",
    )
    media = product.find(".//x:MediaIntent", SPACES)
    assert (media.get("MediaQuality"), media.get("Weight"), media.get("Coating")) == (
        "SILK-350",
        "350",
        "Satin",
    )
    bound = product.find(".//x:BindingIntent", SPACES)
    assert (bound.get("BindingType"), bound.get("BindingSide")) == ("SaddleStitch", "Top")
    assert ticket["BindingEdge"] == "Top"
    assert product.find(".//x:FoldingIntent", SPACES).get("FoldCatalog") == "F4-1"
    extra = siteflow_order(with_address(job), SITEFLOW)["orderData"]["items"][0]["extraData"]
    assert (extra["stock"], extra["weightGSM"], extra["binding"]) == ("SILK-350", 350, "SaddleStitch")
    assert extra["bindingEdge"] == "Top"


@pytest.mark.parametrize(
    ("edge", "pages", "sides", "flip"),
    [
        ("", 1, "OneSided", "OneSidedFront"),
        ("Top", 1, "OneSided", "OneSidedFront"),
        ("", 2, "TwoSidedHeadToHead", "TwoSidedFlipY"),
        ("Left", 8, "TwoSidedHeadToHead", "TwoSidedFlipY"),
        ("Right", 8, "TwoSidedHeadToHead", "TwoSidedFlipY"),
        ("Top", 26, "TwoSidedHeadToFoot", "TwoSidedFlipX"),
        ("Bottom", 2, "TwoSidedHeadToFoot", "TwoSidedFlipX"),
    ],
)
def test_every_ticket_says_how_the_backs_lie(shop, edge, pages, sides, flip):
    make_product(shop.store, "calendar", BindingEdge=edge, PageCount=pages)
    job = build_adapter_job(sent(shop, {"ProductID": "calendar", "Quantity": 100}))

    layout = etree.fromstring(write_xjdf(job)).find(".//x:LayoutIntent", SPACES)
    press = etree.fromstring(write_jdf(job)).find(".//{*}DigitalPrintingParams")
    extra = siteflow_order(with_address(job), SITEFLOW)["orderData"]["items"][0]["extraData"]

    assert json.loads(write_json_ticket(job))["Sides"] == layout.get("Sides") == extra["sides"] == sides
    assert press.get("Sides") == flip


@pytest.mark.parametrize(("folding", "panels"), [("F4-1", 2), ("F6-4", 3), ("F8-2", 1), ("", 1)])
def test_stamp_marks_the_folds_of_a_sheet(shop, folding, panels):
    make_design(shop.store, "business-card-standard", "card-two-sided", Folding=folding)
    job = sent(shop, {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()})
    content = read_print_file(item=job.item)

    stamp = Stamp(job.number, 100, ship_day(job.order, is_mailing=False), panels=panels)
    assert stamped_content(job.item, job.number, content) == stamp_file(content, stamp)


def test_pages_of_a_product_with_one_side_are_fronts(shop):
    make_product(shop.store, "form", BindingEdge="Top", PageCount=2, IsOneSided=True)
    item = build_adapter_job(sent(shop, {"ProductID": "form", "Quantity": 100})).item

    assert (item.pages, item.sides, item.is_head_to_foot) == (2, "OneSided", False)


def test_spot_plate_of_a_print_file_is_named():
    pdf = pikepdf.new()
    page = pdf.add_blank_page()
    space = pikepdf.Array(
        [
            pikepdf.Name.Separation,
            pikepdf.Name("/CutContour"),
            pikepdf.Name.DeviceCMYK,
            pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0] * 4, C1=[0, 1, 0, 0], N=1),
        ]
    )
    page.obj.Resources = pikepdf.Dictionary(ColorSpace=pikepdf.Dictionary(c=space))
    content = io.BytesIO()
    pdf.save(content)

    assert spot_plates(content.getvalue()) == ("CutContour",)
    job = made_job(spot_plates=spot_plates(content.getvalue()))
    assert json.loads(write_json_ticket(job))["Plates"][-1] == "CutContour"
    front = etree.fromstring(write_xjdf(job)).find(".//x:SurfaceColor", SPACES)
    assert front.get("ColorsUsed") == "Cyan Magenta Yellow Black CutContour"


def test_bleed_in_tickets_is_that_of_the_print_file_also_of_print_ready_pdfs(shop):
    make_product(shop.store, "leaflet", PageCount=1, WidthMM=Decimal("88.9"), HeightMM=Decimal("50.8"))
    client = shop.world.as_application()
    path = "/api/v1/store/associated/asset"
    asset = client.post(path, document(bleed=3.175, margin=5), content_type="application/pdf").json()
    artwork = {"AssetID": asset["AssetID"]}

    job = build_adapter_job(sent(shop, {"ProductID": "leaflet", "Quantity": 100, "Artwork": artwork}))

    assert json.loads(write_json_ticket(job))["Size"]["BleedMM"] == 3.175
    layout = etree.fromstring(write_xjdf(job)).find(".//x:LayoutIntent", SPACES)
    assert layout.get("Bleed") == "9"


def with_address(job: AdapterJob) -> AdapterJob:
    return replace(job, files=[job_file(url="https://print.example/1.pdf")])


def sent(shop: Shop, item: dict[str, Any]) -> Job:
    response = shop.place(body=order_body() | {"Items": [item]})
    assert response.status_code == 201, response.content
    accept(response.json()["OrderID"])
    return only_job()


def test_options_of_the_item_are_on_every_ticket_by_name_and_value(shop):
    make_product(shop.store, "options", TemplateFields=FIELDS)
    job = sent(shop, {"ProductID": "options", "Quantity": 100, "TemplateData": {"Corners": "Rounded"}})
    work_off_jobs()
    expected = {"Corners": "Rounded", "Coating": "Matte", "Folding Edge": "Long"}

    built = build_adapter_job(job)
    assert built.item.options == expected
    assert json.loads(write_json_ticket(built))["Options"] == expected
    product = etree.fromstring(write_xjdf(built)).find("x:ProductList/x:Product", SPACES)
    named = {
        element.get("IDUsage"): element.get("IDValue") for element in product.findall("x:GeneralID", SPACES)
    }
    assert named == {"Corners": "Rounded", "Folding-Edge": "Long"}
    assert product.find(".//x:MediaIntent", SPACES).get("Coating") == "Matte"
    printed = made_job(options=expected, files=[job_file(url="https://x.example/1.pdf")])
    [item] = siteflow_order(printed, SITEFLOW)["orderData"]["items"]
    assert item["extraData"]["options"] == expected
    assert item["components"][0]["attributes"] == {"finish": "Matte"}


def let_default_change():
    TemplateField.objects.filter(field_name="Coating").update(default_value="Gloss")


@pytest.mark.parametrize("change", [let_default_change, TemplateField.objects.all().delete])
def test_options_are_those_of_the_order_although_the_product_changed(shop, change):
    make_product(shop.store, "options", TemplateFields=FIELDS)
    job = sent(shop, {"ProductID": "options", "Quantity": 100, "TemplateData": {"Corners": "Rounded"}})

    change()

    expected = {"Corners": "Rounded", "Coating": "Matte", "Folding Edge": "Long"}
    assert build_adapter_job(job).item.options == expected
    again = reprint(shop, job.order)
    assert item_options(again.items.get()) == expected


def test_paper_and_binding_are_those_of_the_order_although_the_product_changed(shop):
    made = {"stock_code": "S-300", "stock_weight_gsm": 300, "coating": "Matte", "binding_edge": "Top"}
    card = make_card(shop.store)
    Product.objects.filter(pk=card.pk).update(**made)
    job = sent(shop, {"ProductID": card.external_id, "Quantity": 100, "TemplateData": card_data()})
    before = build_adapter_job(job).item

    changed = {"stock_code": "S-90", "stock_weight_gsm": None, "coating": "Gloss", "binding_edge": "Left"}
    Product.objects.filter(pk=card.pk).update(**changed)

    after = build_adapter_job(Job.objects.get(pk=job.pk)).item
    assert {name: getattr(after, name) for name in made} == made
    assert after.is_head_to_foot
    assert after == before
    assert reprint(shop, job.order).items.get().finishing == job.item.finishing


def test_options_of_a_template_and_of_a_pdf_are_those_of_the_order(shop):
    card = make_card(shop.store)
    choice = {"type": "Choice", "sub_type": "List", "choices": ["Gloss", "Matte"], "position": 90}
    TemplateField.objects.create(product=card, field_name="Coating", default_value="Matte", **choice)
    Product.objects.filter(pk=card.pk).update(version=F("version") + 1)
    client = shop.world.as_application()
    path = "/api/v1/store/associated/asset"
    content = document(pages=2, bleed=3.175, margin=5)
    asset = client.post(path, content, content_type="application/pdf").json()
    item = {"ProductID": card.external_id, "Quantity": 100}
    sent_items = [
        {**item, "TemplateData": card_data()},
        {**item, "TemplateData": card_data() | {"Coating": "Gloss"}},
        {**item, "Artwork": {"AssetID": asset["AssetID"]}},
    ]
    response = shop.place(body=order_body() | {"Items": sent_items})
    assert response.status_code == 201, response.content

    TemplateField.objects.filter(field_name="Coating").update(default_value="Gloss")

    items = OrderItem.objects.order_by("position")
    assert [item_options(item).get("Coating") for item in items] == ["Matte", "Gloss", "Matte"]


def test_pages_and_size_in_tickets_are_those_of_the_print_file_although_the_product_changed(shop):
    card = make_card(shop.store)
    item = {"ProductID": card.external_id, "Quantity": 100, "TemplateData": card_data()}
    job = sent(shop, item)
    before = build_adapter_job(job).item

    Product.objects.filter(pk=card.pk).update(template=None, page_count=1, width_mm=55, height_mm=85)

    after = build_adapter_job(job).item
    assert (after.pages, after.is_two_sided, after.sides) == (2, True, before.sides)
    assert (after.width_mm, after.height_mm) == pytest.approx((before.width_mm, before.height_mm), abs=0.1)


def test_options_of_an_order_that_kept_none_are_those_of_its_product(shop):
    make_product(shop.store, "options", TemplateFields=FIELDS)
    sent(shop, {"ProductID": "options", "Quantity": 100, "TemplateData": {"Corners": "Rounded"}})
    OrderItem.objects.update(options=None)

    let_default_change()

    chosen = item_options(OrderItem.objects.get())
    assert chosen == {"Corners": "Rounded", "Coating": "Gloss", "Folding Edge": "Long"}


def reprint(shop: Shop, order: Order) -> Order:
    caller = Caller.on_pages(shop.world.operator)
    return reprint_order(order=order, positions=[0], caller=caller, known_reprints=0)


def test_eddm_mailing_brings_its_papers_for_the_post_office(shop, client: Client, tmp_path):
    make_product(shop.store, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200, MaximumQty=25_000)
    selection = make_selection(application=shop.world.application)
    job = sent(shop, {"ProductID": "mailer", "EddmSelectionID": str(selection.pk)})
    work_off_jobs()

    folder = tmp_path / "press" / "in" / job.number
    assert {path.name for path in folder.iterdir()} == {
        f"{job.number}{end}" for end in ("-eddm-papers.pdf", ".json", ".xjdf")
    }
    papers = (folder / f"{job.number}-eddm-papers.pdf").read_bytes()
    assert "EDDM papers" in PdfReader(io.BytesIO(papers)).pages[0].extract_text()
    ticket = json.loads((folder / f"{job.number}.json").read_bytes())
    assert [(file["Name"], file["Kind"]) for file in ticket["Files"]] == [
        (f"{job.number}-eddm-papers.pdf", "Papers")
    ]
    sets = (
        etree.parse(folder / f"{job.number}.xjdf").getroot().findall("x:ResourceSet[@Name='RunList']", SPACES)
    )
    assert [resource_set.get("ProcessUsage") for resource_set in sets] == [None, "Papers"]
    assert only_job().attempts.get().digests.keys() == {f"{job.number}-eddm-papers.pdf"}
    withdrawn = build_adapter_job(only_job(), has_content=False).files
    assert [(file.name, file.content) for file in withdrawn] == [(f"{job.number}-eddm-papers.pdf", b"")]
    Job.objects.update(pieces=7)
    assert build_adapter_job(only_job()).files == []

    address = ticket["Files"][0]["URL"]
    fetched = client.get(address[address.index("/", 9) :] if "://" in address else address)
    assert (fetched.status_code, fetched.content[:4]) == (200, b"%PDF")


def test_site_flow_fetches_print_file_and_papers_of_a_mailing(shop, client: Client, settings):
    """Each address of the order that Site Flow has taken gives the very file, to a caller without an account."""
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    design = "eddm-mailer-6.5x9"
    make_design(shop.store, design, IsEddm=True, MinimumQty=200, DefaultQty=200, MaximumQty=25_000)
    selection = make_selection(application=shop.world.application)
    with running_siteflow() as flow:
        values = ProviderValues("flow", "Flow", "siteflow", flow.settings(secret=SECRET))
        RoutingChoice.objects.update(provider=save_provider(values=values))
        job = sent(
            shop,
            {"ProductID": design, "EddmSelectionID": str(selection.pk), "TemplateData": design_data(design)},
        )
        work_off_jobs()
        order = flow.orders[job.number]

    assert (only_job().state, only_job().reference) == ("Sent", f"of-{job.number}")
    [component], [papers] = order["items"][0]["components"], order["shipments"][0]["attachments"]
    printed, inserted = (client.get(urlsplit(file["path"]).path) for file in (component, papers))
    assert hashlib.sha256(printed.content).hexdigest() == component["extraData"]["sha256"]
    assert (papers["type"], inserted["Content-Type"]) == ("insert", "application/pdf")
    assert "EDDM papers" in PdfReader(io.BytesIO(inserted.content)).pages[0].extract_text()


def test_papers_lie_beside_the_print_file_and_are_not_printed_with_it():
    files = [
        job_file(url="https://x.example/1.pdf"),
        job_file(
            "SF-1001-1-eddm-papers.pdf", b"%PDF-1.7 papers", "https://x.example/2.pdf", is_printed=False
        ),
    ]
    job = made_job(files=files)
    assert [file.name for file in drop_files(job, "both")] == [
        "SF-1001-1.pdf",
        "SF-1001-1-eddm-papers.pdf",
        "SF-1001-1.xjdf",
        "SF-1001-1.json",
    ]
    order = siteflow_order(job, SITEFLOW)["orderData"]
    assert [component["path"] for component in order["items"][0]["components"]] == ["https://x.example/1.pdf"]
    assert [attachment["path"] for attachment in order["shipments"][0]["attachments"]] == [
        "https://x.example/2.pdf"
    ]
    assert Path(order["shipments"][0]["attachments"][0]["path"]).suffix == ".pdf"
