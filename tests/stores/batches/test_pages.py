"""The pages of batches in the portal: a file becomes orders, and only for the people whose batch it is."""

import io
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from accounts.callers import Caller
from applications.registration.services.applications import change_application, create_application
from fulfillment.core.errors import ServiceBusy
from stores.batches.models import Batch
from stores.batches.overview import BatchPage
from stores.batches.services import checking
from stores.batches.services.batches import change_batch
from stores.batches.services.ordering import ORDER_TASK
from stores.batches.services.rows import CHECK_TASK
from stores.orders.models import Order
from tests.factories.orders import make_card
from tests.support.pages import text
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db
FILE = (
    b"Name,Email,Recipient.Name,Recipient.Address1,Recipient.City,Recipient.State,Recipient.PostalCode,"
    b"Recipient.CountryCode\n"
    b"Ada Lovelace,ada@print.example,Ada Lovelace,1200 17th Street,Denver,CO,80202,US\n"
    b"Alan Turing,nobody,Alan Turing,1200 17th Street,Denver,CO,80202,US\n"
)


@pytest.fixture
def batch(world, browser):
    make_card(world.demo, "business-card")
    form = {"as": str(world.application.pk), "mode": "Recipients", "quantity": "100"}
    response = browser.post("/catalog/demo/business-card/batch", form)
    batch = Batch.objects.get()
    assert response["Location"] == f"/batches/{batch.pk}"
    browser.post(f"/batches/{batch.pk}/rows", {"file": SimpleUploadedFile("people.csv", FILE, "text/csv")})
    return batch


@pytest.fixture
def count_queries():
    def count(call):
        with CaptureQueriesContext(connection) as queries:
            call()
        return len(queries)

    return count


def mapped(browser, batch, **changes):
    page = browser.get(f"/batches/{batch.pk}/columns").content.decode()
    chosen = re.findall(r'<select id="(target-\d+)".*?</select>', page, re.DOTALL)
    values = {}
    for name in chosen:
        options = re.search(rf'<select id="{name}".*?</select>', page, re.DOTALL)[0]
        selected = re.search(r'<option value="(\d+)" data-samples="[^"]*" selected', options)
        values[name] = selected[1] if selected else ""
    browser.post(f"/batches/{batch.pk}/columns", {**values, **changes})
    work_off(CHECK_TASK)
    return page


def test_file_is_mapped_checked_corrected_and_ordered(browser, batch):
    address = f"/batches/{batch.pk}"

    assert "100% match" in mapped(browser, batch)
    page = browser.get(address).content.decode()
    assert "Alan Turing" in page
    assert "Ada Lovelace" not in page
    row = batch.rows.get(name="Alan Turing")
    browser.post(f"{address}/rows/{row.key}", {"cell-1": "alan@print.example"})
    question = browser.get(f"{address}/order").content.decode()
    version = re.search(r'name="seen" value="([^"]+)"', question)[1]
    stale = browser.post(f"{address}/order", {"seen": "1 1 1.00"}).content.decode()
    browser.post(f"{address}/order", {"seen": version})
    work_off(ORDER_TASK)

    assert "Order 2 rows?" in question
    assert "Rows changed meanwhile" in stale
    assert Order.objects.count() == 2
    page = browser.get(f"{address}?state=all").content.decode()
    assert page.count("Order 1") >= 2
    [wide, _] = re.findall(r'href="([^"]+width=3000)" [^>]*data-zoom="88.900"', page)
    drawn = Image.open(io.BytesIO(b"".join(browser.get(wide).streaming_content)))
    assert drawn.width == 3000
    assert 'id="zoom"' in page


def test_batch_of_an_application_that_is_gone_meanwhile_is_made_for_no_other(world, browser):
    """It was made for the first one that was left: rows for a test application would have been produced."""
    make_card(world.demo, "business-card")
    trial = create_application(caller=Caller.on_pages(world.user), values={"Name": "Trial", "IsTest": True})
    form = {"as": str(trial.pk), "mode": "Recipients", "quantity": "100"}
    change_application(application=trial, values={"IsEnabled": False})

    refused = browser.post("/catalog/demo/business-card/batch", form).content.decode()

    assert not Batch.objects.exists()
    assert "You can no longer order as this application." in refused
    browser.post("/catalog/demo/business-card/batch", {**form, "as": str(world.application.pk)})
    assert Batch.objects.get().application == world.application


def test_missing_column_is_said_once_at_the_mapping(browser, batch):
    here = f"/batches/{batch.pk}"
    refused = browser.post(f"{here}/columns", {"target-0": "1"}).content.decode()
    batch.refresh_from_db()

    assert "Every row needs these fields." in refused
    assert len(re.findall(r'<a href="#target-\d+">', refused)) == 6
    assert batch.status == "Empty"
    change_batch(batch=batch, values={"mapping": {"Name": "Name"}})
    work_off(CHECK_TASK)
    page = browser.get(here).content.decode()
    assert page.count("No column is chosen for") == 1
    assert "map one to it" not in page
    assert 'id="batch-bar" data-live hidden' in page


def test_cell_is_saved_alone_and_answers_with_its_row(browser, batch):
    mapped(browser, batch)
    row = batch.rows.get(name="Alan Turing")
    address = f"/batches/{batch.pk}/rows/{row.key}"

    saved = browser.post(address, {"cell-1": "alan@print.example"}, headers={"X-Grid": "1"}).content.decode()
    long = browser.post(address, {"cell-1": "x" * 10_001}, headers={"X-Grid": "1"})

    assert 'id="row-3"' in saved
    assert "Order 2 rows" in saved
    assert (long.status_code, b"at most 10,000 are allowed" in long.content) == (400, True)
    assert batch.rows.get(pk=row.pk).values["Email"] == "alan@print.example"


def test_cell_saved_while_renderers_are_busy_is_checked_later(browser, batch, monkeypatch):
    mapped(browser, batch)
    row = batch.rows.get(name="Alan Turing")
    address = f"/batches/{batch.pk}/rows/{row.key}"

    def busy(**_):
        raise ServiceBusy("There are as many renderings under way as are taken at once.")

    with monkeypatch.context() as patch:
        patch.setattr(checking, "make_proof", busy)
        saved = browser.post(address, {"cell-1": "alan@print.example"}, headers={"X-Grid": "1"})

    assert saved.status_code == 200
    assert "data-pending" in saved.content.decode()
    assert "Order 1 row" not in saved.content.decode(), "there is nothing to order before it is checked"
    work_off(CHECK_TASK)
    page = browser.get(address, headers={"X-Grid": "1"}).content.decode()
    assert "Ready" in page
    assert "data-pending" not in page
    assert "Order 2 rows" in page


def test_rows_are_filtered_by_a_text_in_any_cell(browser, batch):
    mapped(browser, batch)
    address = f"/batches/{batch.pk}?state=all&words="

    pages = {
        text: browser.get(address + text).content.decode() for text in ("LOVELACE", "nobody", "%25", "City")
    }

    assert {text: page.count('scope="row"') for text, page in pages.items()} == {
        "LOVELACE": 1,
        "nobody": 1,
        "%25": 0,
        "City": 0,
    }
    assert browser.get(address + "%00").status_code == 400


def test_rows_are_filtered_without_regard_to_accents_and_spaces(browser, batch):
    row = batch.rows.get(name="Alan Turing")
    browser.post(f"/batches/{batch.pk}/rows/{row.key}", {"cell-0": "Zo\u00eb  \u00c5nge"})
    address = f"/batches/{batch.pk}?state=all&words="
    mapped(browser, batch)

    assert [
        browser.get(address + text).content.decode().count('scope="row"') for text in ("zoe+ange", row.key)
    ] == [1, 1]


def test_page_shows_rows_whose_key_from_an_earlier_release_has_several_lines(browser, batch):
    mapped(browser, batch)
    batch.rows.filter(name="Alan Turing").update(key="a\nb")

    assert "Alan Turing" in browser.get(f"/batches/{batch.pk}").content.decode()


def test_page_of_rows_ends_before_it_is_too_large(browser, batch, monkeypatch):
    mapped(browser, batch)
    monkeypatch.setattr("stores.batches.selectors.rows.PAGE_BYTES", 1)

    first = text(browser.get(f"/batches/{batch.pk}?state=all"))
    following = re.search(r'rel="next" href="([^"]+)"', first)[1].replace("&amp;", "&")
    second = browser.get(f"/batches/{batch.pk}{following}").content.decode()

    assert [("Ada Lovelace" in page, "Alan Turing" in page) for page in (first, second)] == [
        (True, False),
        (False, True),
    ]
    assert 'rel="next"' not in second


def test_columns_kept_under_a_name_are_offered_for_the_next_file(browser, batch):
    address = f"/batches/{batch.pk}/columns"
    assert "Use these columns" not in browser.get(address).content.decode()
    mapped(browser, batch, **{"target-0": "1", "keep_as": "People"})
    receive = {"file": SimpleUploadedFile("people.csv", FILE, "text/csv")}
    browser.post(f"/batches/{batch.pk}/rows", receive)

    page = browser.get(f"{address}?kept=People").content.decode()

    assert "<option selected>People</option>" in page
    [first] = re.findall(r'<select id="target-0".*?</select>', page, re.DOTALL)
    assert re.search(r'value="1" data-samples="[^"]*" selected>Email<', first)


def test_all_rows_are_not_ordered_while_some_are_in_error(browser, batch):
    mapped(browser, batch)
    address = f"/batches/{batch.pk}/order"

    response = browser.get(f"{address}?rows=all", follow=True).content.decode()

    assert "Rows in error: 1." in response
    assert "Order 1 row?" in browser.get(f"{address}?rows=ready").content.decode()


def test_question_says_that_nothing_is_left_of_a_budget(browser, batch, monkeypatch):
    mapped(browser, batch)
    budget = {"name": "Marketing", "left": "", "after": "-12.00 USD", "is_over": True, "is_short": False}
    monkeypatch.setattr(BatchPage, "budgets", lambda page: [budget])

    page = text(browser.get(f"/batches/{batch.pk}/order?rows=ready"))

    assert "<dd> nothing left, -12.00 USD after </dd>" in page


def test_refused_correction_keeps_what_was_typed(browser, batch):
    mapped(browser, batch)
    row = batch.rows.get(name="Alan Turing")
    address = f"/batches/{batch.pk}/rows/{row.key}"

    long = browser.post(address, {"cell-1": "x" * 10_001}).content.decode()

    assert "at most 10,000 are allowed" in long
    assert "x" * 10_001 in long
    assert batch.rows.get(pk=row.pk).values == row.values


def test_files_of_a_batch_are_downloaded(browser, batch):
    mapped(browser, batch)
    address = f"/batch-files/{batch.pk}"

    csv = b"".join(browser.get(f"{address}/rows.csv").streaming_content)
    sheet = browser.get(f"{address}/contact-sheet.pdf").content

    assert b"alan" in csv.lower()
    assert sheet.startswith(b"%PDF")
    assert b"Name" in browser.get(f"{address}/template.csv").content
    assert browser.get(f"{address}/template.exe").status_code == 404


def test_contact_sheet_waits_for_a_slot_before_its_rows_are_read(browser, batch, settings, monkeypatch):
    read = []
    monkeypatch.setattr("stores.batches.pages.showing.extreme_rows", lambda *_: read.append(1) or [])
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0

    refused = browser.get(f"/batch-files/{batch.pk}/contact-sheet.pdf?rows=extremes")

    assert (refused.status_code, read) == (503, [])


def test_batch_of_others_is_not_there(world, signed_in, batch):
    outsider = signed_in(world.outsider)

    for part in ("", "/columns", "/order", "/cancel"):
        assert outsider.get(f"/batches/{batch.pk}{part}").status_code == 404
    for name in ("rows.csv", "contact-sheet.pdf", "template.csv"):
        assert outsider.get(f"/batch-files/{batch.pk}/{name}").status_code == 404
    assert outsider.post(f"/batches/{batch.pk}/cancel").status_code == 404
    batch.refresh_from_db()
    assert batch.status == "Empty"


def test_batch_is_cancelled_with_a_reason(browser, batch):
    browser.post(f"/batches/{batch.pk}/cancel", {"note": "Another file"})

    batch.refresh_from_db()
    assert (batch.status, batch.note) == ("Cancelled", "Another file")


def test_list_is_searched_by_name(browser, batch):
    Batch.objects.update(name="Winter cards")
    page = browser.get("/batches?q=winter").content.decode()
    missed = browser.get("/batches?q=summer").content.decode()

    assert f"/batches/{batch.pk}" in page
    assert f"/batches/{batch.pk}" not in missed
    assert "Nothing matches “summer”" in missed


def test_list_says_how_far_each_batch_is_in_one_statement_for_all(browser, batch, count_queries):
    mapped(browser, batch)
    browser.get("/batches")
    one = count_queries(lambda: browser.get("/batches"))
    product = {name: getattr(batch, name) for name in ("store", "application", "user", "product", "mode")}
    times = {name: getattr(batch, name) for name in ("created", "updated")}
    for number in range(3):
        other = Batch.objects.create(
            is_first_party=False, is_test=False, name=f"No. {number}", **product, **times
        )
        other.rows.create(number=2, key="a", values={}, digest="", state="Ready", quantity=100, total=7)

    assert count_queries(lambda: browser.get("/batches")) == one
    said = " ".join(re.sub("<[^>]+>", " ", browser.get("/batches").content.decode()).split())
    total = batch.rows.get(state="Ready").total
    assert f"2 rows · 1 ready · 1 with problems · {total:.2f} USD" in said
    assert said.count("1 row · 1 ready · 7.00 USD") == 3
