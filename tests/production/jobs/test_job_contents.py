"""What a job says beside its print file: the options of the item, and the papers of an EDDM mailing."""

import hashlib
import io
import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from lxml import etree
from pypdf import PdfReader

from production.adapters.sftp_files import drop_files
from production.adapters.siteflow_orders import order_of
from production.jobs.models import Job
from production.jobs.selectors import adapter_job
from production.providers.services import ProviderValues, save_provider
from production.routing.models import RoutingChoice
from production.tickets import write_json_ticket, write_xjdf
from tests.factories.eddm import make_selection
from tests.factories.orders import design_data, make_design, make_product, order_body
from tests.factories.production import accept, make_provider, make_rule, only_job, work_off_jobs
from tests.support.order_helpers import Shop, open_shop
from tests.support.production_jobs import job_file, made_job
from tests.support.siteflow import SECRET, running_siteflow

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


def sent(shop: Shop, item: dict[str, Any]) -> Job:
    answer = shop.place(body=order_body() | {"Items": [item]})
    assert answer.status_code == 201, answer.content
    accept(answer.json()["OrderID"])
    return only_job()


def test_options_of_the_item_are_on_every_ticket_by_name_and_value(shop):
    make_product(shop.store, "options", TemplateFields=FIELDS)
    job = sent(shop, {"ProductID": "options", "Quantity": 100, "TemplateData": {"Corners": "Rounded"}})
    work_off_jobs()
    expected = {"Corners": "Rounded", "Coating": "Matte", "Folding Edge": "Long"}

    built = adapter_job(job)
    assert built.item.options == expected
    assert json.loads(write_json_ticket(built))["Options"] == expected
    product = etree.fromstring(write_xjdf(built)).find("x:ProductList/x:Product", SPACES)
    named = {one.get("IDUsage"): one.get("IDValue") for one in product.findall("x:GeneralID", SPACES)}
    assert named == {"Corners": "Rounded", "Folding-Edge": "Long"}
    assert product.find(".//x:MediaIntent", SPACES).get("Coating") == "Matte"
    printed = made_job(options=expected, files=[job_file(url="https://x.example/1.pdf")])
    [item] = order_of(printed, SITEFLOW)["orderData"]["items"]
    assert item["extraData"]["options"] == expected
    assert item["components"][0]["attributes"] == {"finish": "Matte"}


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
    assert [(one["Name"], one["Kind"]) for one in ticket["Files"]] == [
        (f"{job.number}-eddm-papers.pdf", "Papers")
    ]
    sets = (
        etree.parse(folder / f"{job.number}.xjdf").getroot().findall("x:ResourceSet[@Name='RunList']", SPACES)
    )
    assert [one.get("ProcessUsage") for one in sets] == [None, "Papers"]
    assert only_job().attempts.get().digests.keys() == {f"{job.number}-eddm-papers.pdf"}

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
    printed, inserted = (client.get(urlsplit(one["path"]).path) for one in (component, papers))
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
    order = order_of(job, SITEFLOW)["orderData"]
    assert [one["path"] for one in order["items"][0]["components"]] == ["https://x.example/1.pdf"]
    assert [one["path"] for one in order["shipments"][0]["attachments"]] == ["https://x.example/2.pdf"]
    assert Path(order["shipments"][0]["attachments"][0]["path"]).suffix == ".pdf"
