"""The story of a batch over the API."""

import csv
import io
import json
from datetime import timedelta

import pikepdf
import pytest
from django.utils import timezone

from fulfillment.core.errors import ServiceBusy
from fulfillment.core.files.uploads import RawParser
from fulfillment.core.http.head_limits import shorten_head
from stores.batches.models import Batch, BatchRow
from stores.batches.services import checking
from stores.batches.services.contact_sheets import extreme_rows
from stores.batches.services.uploads import alone_for
from stores.orders.models import ActorKind, Order
from stores.orders.services.changes import Actor
from stores.orders.services.transitions import Parcel, transition_order
from stores.proofs.models import Proof
from tests.factories.orders import RECIPIENT, make_card
from tests.support.batches.batches import addressed, person
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db
CHECK, ORDER = "stores.check_batch", "stores.order_batch"


@pytest.fixture
def api(world):
    make_card(world.associated)
    return world.as_application()


def make(api, **changes):
    body = {
        "ProductID": "card-two-sided",
        "Mode": "Items",
        "Quantity": 100,
        "Recipient": RECIPIENT,
        **changes,
    }
    response = api.call("POST", "/store/associated/batch", body)
    assert response.status_code == 201, response.content
    return response.json()


def path(batch, rest=""):
    return f"/store/associated/batch/{batch['BatchID']}{rest}"


def send(api, batch, rows, query=""):
    return api.call("PUT", path(batch, f"/rows{query}"), rows)


def csv_of(*rows):
    heads = list(rows[0])
    return "\n".join([",".join(heads), *(",".join(row[head] for head in heads) for row in rows)]).encode()


@pytest.mark.parametrize("operation", ["create", "change", "correct"])
def test_pairs_beyond_256_are_refused_before_each_is_checked(api, operation):
    """A body of 60,000 pairs took 2 s of processor time, and others waited while one caller sent some of them."""
    batch = make(api)
    send(api, batch, [person(1)], "?check=false")
    pairs = {f"Column {number}": "x" for number in range(257)}
    new = {"ProductID": "card-two-sided", "Mode": "Recipients", "Mapping": pairs}
    calls = {
        "create": ("POST", "/store/associated/batch", new),
        "change": ("PATCH", path(batch), {"Mapping": pairs}),
        "correct": ("PATCH", path(batch, f"/row/{BatchRow.objects.get().key}"), pairs),
    }

    response = api.call(*calls[operation])

    assert response.status_code == 400
    assert [(error["Code"], error["Message"].partition(": ")[2]) for error in response.json()["Errors"]] == [
        ("too_many", "At most 256 pairs.")
    ]


def pages_of(content):
    with pikepdf.open(io.BytesIO(content)) as pdf:
        return [len(page.Resources.XObject) for page in pdf.pages]


def cards(number, **cells):
    row = person(number, **cells)
    return {"Name": row["Name"], "Job title": row["Job"], "E-mail": row["Mail"]}


def test_batch_is_made_filled_checked_corrected_and_ordered(api):
    batch = make(api, Name="Cards")
    sent = send(api, batch, [cards(1), cards(2, Mail="nowhere")])
    assert sent.status_code == 202
    assert sent.json()["Status"] == "Checking"
    assert sent.json()["Mapping"] == {"Name": "Name", "Title": "Job title", "Email": "E-mail"}
    work_off(CHECK)

    batch_record = api.call("GET", path(batch)).json()
    assert (batch_record["Status"], batch_record["Counts"]["Ready"], batch_record["Counts"]["Error"]) == (
        "Checked",
        1,
        1,
    )
    [row] = api.call("GET", path(batch, "/row?state=Error")).json()
    assert row["Problems"][0]["Column"] == "E-mail"
    assert api.call("POST", path(batch, "/order"), {}).json()["Code"] == "batch_has_errors"

    changed = api.call("PATCH", path(batch, f"/row/{row['RowKey']}"), {"E-mail": "b@print.example"})
    assert (changed.json()["State"], changed.json()["RowKey"]) == ("Ready", row["RowKey"])
    assert changed.json()["Proof"]["PageURLs"]
    ordered = api.call("POST", path(batch, "/order"), {"ExternalID": "cards-1"})
    assert (ordered.status_code, ordered.json()["Status"]) == (202, "Ordering")
    work_off(ORDER)

    batch_record = api.call("GET", path(batch)).json()
    assert (batch_record["Status"], batch_record["Counts"]["Ordered"], batch_record["Total"]) == (
        "Ordered",
        2,
        24.0,
    )
    order = api.call("GET", "/store/associated/order/@cards-1").json()
    assert order["BatchID"] == batch["BatchID"]
    rows = api.call("GET", path(batch, "/row")).json()
    assert [item["RowKey"] for item in order["Items"]] == [row["RowKey"] for row in rows]
    assert {row["OrderID"] for row in rows} == {order["OrderID"]}
    assert [item["TemplateData"]["Name"] for item in order["Items"]] == ["Person 001", "Person 002"]


def test_order_of_an_outdated_check_has_it_repeated(api):
    batch = make(api)
    send(api, batch, [cards(1), cards(2)])
    work_off(CHECK)
    Batch.objects.update(prices_expire=timezone.now())

    refused = api.call("POST", path(batch, "/order"), {}, headers={"Idempotency-Key": "once"})
    assert (refused.status_code, refused.json()["Code"], refused.json()["Rows"]) == (409, "batch_outdated", 2)
    assert api.call("GET", path(batch)).json()["Status"] == "Checking"
    work_off(CHECK)
    again = api.call("POST", path(batch, "/order"), {}, headers={"Idempotency-Key": "once"})
    assert (again.status_code, again.json()["Status"]) == (202, "Ordering")


def test_external_id_of_a_batch_leaves_room_for_the_numbers_of_rows(api):
    response = api.call("POST", path(make(api), "/order"), {"ExternalID": "x" * 91})

    [problem] = response.json()["Errors"]
    assert (response.status_code, problem["Pointer"], problem["Code"]) == (400, "/ExternalID", "max_length")
    assert "90" in problem["Message"]


def test_row_corrected_while_renderers_are_busy_is_saved_and_checked_later(api, monkeypatch):
    batch = make(api)
    send(api, batch, [cards(1, Mail="nowhere")])
    work_off(CHECK)
    [row] = api.call("GET", path(batch, "/row")).json()

    def busy(**_):
        raise ServiceBusy("There are as many renderings under way as are taken at once.")

    with monkeypatch.context() as patch:
        patch.setattr(checking, "make_proof", busy)
        changed = api.call("PATCH", path(batch, f"/row/{row['RowKey']}"), {"E-mail": "b@print.example"})

    assert (changed.status_code, changed.json()["State"]) == (200, "Pending")
    assert api.call("GET", path(batch)).json()["Status"] == "Checking"
    work_off(CHECK)
    [row] = api.call("GET", path(batch, "/row")).json()
    assert (row["State"], row["Values"]["E-mail"]) == ("Ready", "b@print.example")


def test_file_is_taken_as_csv_and_rows_come_back_with_their_problems(api):
    batch = make(api)
    content = csv_of(cards(1), cards(2, Mail="nowhere"))
    response = api.generic("PUT", f"/api/v1{path(batch, '/rows')}", content, content_type="text/csv")
    assert response.status_code == 202, response.content
    work_off(CHECK)

    for form in ("csv", "xlsx"):
        file = api.call("GET", path(batch, f"/row?format={form}"))
        content = b"".join(file.streaming_content)
        assert file.status_code == 200
        assert content.startswith(b"PK") if form == "xlsx" else b"Correct the cell" in content


@pytest.mark.parametrize(
    ("charset", "encoding", "name"),
    [("utf-16le", "utf-16-le", "\u4e16\u754c"), ("windows-1252", "cp1252", "Ada \u00c3\u00a9")],
)
def test_file_is_read_in_the_charset_of_its_content_type(api, charset, encoding, name):
    """The second file is sound UTF-8 too."""
    batch = make(api)
    content = csv_of(cards(1, Name=name)).decode().encode(encoding)
    # As the handler hands it on to Django.
    head = {"CONTENT_TYPE": f"text/csv; charset={charset}"}
    shorten_head(head)

    response = api.generic(
        "PUT",
        f"/api/v1{path(batch, '/rows')}",
        content,
        content_type=head["CONTENT_TYPE"],
        SENT_CONTENT_TYPE=head["SENT_CONTENT_TYPE"],
    )

    assert response.status_code == 202, response.content
    [row] = api.call("GET", path(batch, "/row")).json()
    assert row["Values"]["Name"] == name


def test_file_that_cannot_be_read_is_refused_with_its_place(api):
    batch = make(api)

    response = send(api, batch, [{"Name": "x"}, 7])

    assert response.status_code == 400
    assert response.json()["Code"] == "row_not_object"
    assert response.json()["Row"] == 3
    assert api.call("GET", path(batch)).json()["Status"] == "Empty"


def test_file_can_be_read_before_it_is_checked(api):
    batch = make(api)

    batch_record = send(api, batch, [{"Full name": "A", "Mail": "a@print.example"}], "?check=false").json()

    assert (batch_record["Status"], batch_record["Counts"]["Pending"]) == ("Empty", 1)
    assert all(set(match) == {"Target", "Column", "Score"} for match in batch_record["Matches"])
    mapping = {"Name": "Full name", "Email": "Mail"}
    changed = api.call("PATCH", path(batch), {"Mapping": mapping, "MappingName": "HR"}).json()
    assert (changed["Status"], changed["Mapping"], changed["Matches"]) == ("Checking", mapping, [])
    assert make(api, MappingName="HR")["Mapping"] == mapping


def test_progress_estimates_the_seconds_left_by_what_this_check_has_done(api):
    batch = make(api)
    send(api, batch, [cards(number) for number in (1, 2)])
    work_off(CHECK)
    send(api, batch, [cards(number) for number in range(1, 7)])

    def progress():
        return api.call("GET", path(batch)).json()["Progress"]

    assert progress() == {"Done": 2, "Total": 6, "SecondsLeft": None}
    rows = Batch.objects.get().rows
    rows.filter(pk=rows.filter(state="Pending").first().pk).update(state="Ready")
    Batch.objects.update(check_started=timezone.now() - timedelta(hours=1))
    found = progress()
    assert (found["Done"], found["Total"]) == (3, 6)
    assert found["SecondsLeft"] // 100 == 3 * 3600 // 100, "one of four took an hour"
    work_off(CHECK)
    assert progress() == {"Done": 6, "Total": 6, "SecondsLeft": None}


def test_rows_are_read_page_by_page(api):
    batch = make(api)
    send(api, batch, [cards(number) for number in range(1, 6)])

    first = api.call("GET", path(batch, "/row?take=2"))
    following = first["Link"].split(">")[0].split("/api/v1")[1]
    second = api.call("GET", following)

    names = [row["Name"] for page in (first, second) for row in page.json()]
    assert names == ["Person 001", "Person 002", "Person 003", "Person 004"]


def test_page_of_rows_ends_before_it_is_too_large(api, monkeypatch):
    monkeypatch.setattr("stores.batches.selectors.rows.PAGE_BYTES", 1000)
    batch = make(api)
    send(api, batch, [cards(number, Job="T" * 400) for number in (1, 2, 3)] + [cards(4, Job="T" * 2000)])

    pages, address = [], path(batch, "/row")
    while address:
        response = api.call("GET", address)
        pages.append([row["Name"] for row in response.json()])
        address = response.headers.get("Link", "").split(">")[0].partition("/api/v1")[2]

    assert pages == [["Person 001", "Person 002"], ["Person 003"], ["Person 004"]]


def test_contact_sheet_waits_for_a_slot_before_its_rows_are_read(api, settings, monkeypatch):
    address = path(make(api), "/contact-sheet?rows=extremes")
    read = []
    monkeypatch.setattr("stores.batches.api.rows.extreme_rows", lambda *_, **__: read.append(1) or [])
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0

    refused = api.call("GET", address)

    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")
    assert read == []


def test_contact_sheet_shows_twenty_rows_on_a_page(api):
    batch = make(api)
    send(api, batch, [cards(number) for number in range(1, 22)])
    work_off(CHECK)

    sheet = api.call("GET", path(batch, "/contact-sheet"))
    extremes = api.call("GET", path(batch, "/contact-sheet?rows=extremes"))
    first = api.call("GET", path(batch, "/contact-sheet?take=20"))

    assert pages_of(sheet.content) == [20, 1]
    assert len(pages_of(extremes.content)) == 1
    assert "after=21" in first["Link"], "the row after the heads is number 2"


def test_contact_sheet_shows_large_proofs_as_small_pictures(api):
    """100 rows of photos gave 353 MB and took 900 MB of memory."""
    batch = make(api)
    send(api, batch, [cards(number) for number in range(1, 4)])
    work_off(CHECK)
    large = BatchRow.objects.earliest("number").proof
    Proof.objects.filter(digest=large).update(sizes=[400_001, 1000])

    with pikepdf.open(io.BytesIO(api.call("GET", path(batch, "/contact-sheet")).content)) as pdf:
        drawn = list(pdf.pages[0].Resources.XObject.values())
        [picture] = [picture for picture in drawn if picture.Subtype == "/Image"]
        shown = pikepdf.PdfImage(picture).as_pil_image().convert("L")
        assert (len(drawn), len(picture.read_raw_bytes()) < 100_000) == (3, True)
    assert shown.width == pytest.approx(shown.height * 1.75, rel=0.01)
    assert shown.getextrema()[0] < 100 < 250 < shown.getextrema()[1], "text on paper"


def test_extremes_have_the_row_with_the_most_pages(api):
    batch = make(api)
    send(api, batch, [cards(number, Name=f"Person {number}") for number in range(1, 10)])
    work_off(CHECK)
    rows = BatchRow.objects.order_by("number")
    numbers = {row.number for row in extreme_rows(Batch.objects.get())}
    [middle] = [row for row in rows if row.number == 6]
    proof = Proof.objects.get(digest=middle.proof)
    Proof.objects.filter(pk=proof.pk).update(sizes=[*proof.sizes, 1000])
    with_pages = [row.number for row in extreme_rows(Batch.objects.get())]

    assert middle.number not in numbers, "rows of equally many pages show none for that"
    assert set(with_pages) == {*numbers, 6}
    following = api.call("GET", path(batch, "/contact-sheet?rows=extremes&take=1"))["Link"]
    assert f"after={with_pages[0]}" in following
    response = api.call("GET", path(batch, f"/contact-sheet?rows=extremes&after={with_pages[0]}"))
    assert pages_of(response.content) == [len(with_pages) - 1]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_filled_template_of_a_batch_is_matched_and_ready(api, form):
    batch = make(api, Mode="Recipients", Recipient=None)
    template = api.call("GET", path(batch, f"/template?format={form}"))

    response = api.generic(
        "PUT", f"/api/v1{path(batch, '/rows')}", template.content, content_type=template["Content-Type"]
    )

    assert response.status_code == 202, response.content
    assert {target: column for target, column in response.json()["Mapping"].items() if target != column} == {}
    work_off(CHECK)
    [row] = api.call("GET", path(batch, "/row")).json()
    assert row["State"] == "Ready", row["Problems"]


def test_items_without_a_whole_recipient_are_refused(api):
    body = {"ProductID": "card-two-sided", "Mode": "Items", "Recipient": {"Name": "x"}}
    response = api.call("POST", "/store/associated/batch", body)

    assert response.status_code == 400
    pointers = {fault["Pointer"] for fault in response.json()["Errors"]}
    assert {"/Recipient/Address1", "/Recipient/City"} <= pointers
    assert not Batch.objects.exists()


def test_batch_of_another_caller_is_not_found(api, world):
    batch = make(api)

    response = world.as_user(world.outsider).call("GET", path(batch))

    assert response.status_code in (403, 404)


def test_recipients_get_an_order_each(api):
    batch = make(api, Mode="Recipients", Recipient={"CountryCode": "US"}, Mapping=None)
    rows = [
        {
            "Name": f"Person {number:03}",
            "Email": f"p{number}@print.example",
            "Address 1": addressed(number)["Street"],
            "City": "Denver",
            "Zip": "80202",
            "Recipient.Name": f"Person {number:03}",
        }
        for number in (1, 2)
    ]
    send(api, batch, rows)
    work_off(CHECK)
    listed = api.call("GET", path(batch, "/row")).json()
    assert [row["State"] for row in listed] == ["Ready", "Ready"], json.dumps(listed)
    api.call("POST", path(batch, "/order"), {"ExternalID": "mail"})
    work_off(ORDER)

    listed = api.call("GET", path(batch, "/row")).json()
    orders = [api.call("GET", f"/store/associated/order/{row['OrderID']}").json() for row in listed]
    assert [order["Recipient"]["Name"] for order in orders] == ["Person 001", "Person 002"]
    assert [order["ExternalID"] for order in orders] == ["mail-2", "mail-3"]
    assert [order["RowKey"] for order in orders] == [row["RowKey"] for row in listed]


def test_file_of_rows_has_the_tracking_of_each_order(api):
    batch = make(api)
    send(api, batch, [cards(1), cards(2)])
    work_off(CHECK)
    api.call("POST", path(batch, "/order"), {})
    work_off(ORDER)
    Order.objects.update(status=40)
    shipped = transition_order(
        order=Order.objects.get(), status=60, actor=Actor(ActorKind.STORE), parcels=[Parcel("UPS", "1Z1")]
    )

    content = b"".join(api.call("GET", path(batch, "/row?format=csv")).streaming_content).decode("utf-8-sig")

    rows = list(csv.DictReader(io.StringIO(content)))
    assert [row["Tracking"] for row in rows] == ["1Z1", "1Z1"]
    assert {(row["OrderID"], row["Order status"]) for row in rows} == {(str(shipped.pk), "Shipped")}


def test_second_file_for_a_batch_is_refused_before_its_body_is_read(api, monkeypatch):
    batch, read = make(api), []
    monkeypatch.setattr(RawParser, "parse", lambda *_: read.append(1) or b"Name\nAda\n")

    with alone_for(Batch.objects.get()):
        refused = api.generic("PUT", f"/api/v1{path(batch, '/rows')}", b"x", "text/csv")
    assert (refused.status_code, refused.json()["Code"]) == (409, "request_in_progress")
    assert (refused["Retry-After"], read) == ("1", [])

    assert api.generic("PUT", f"/api/v1{path(batch, '/rows')}", b"x", "text/csv").status_code == 202


@pytest.mark.parametrize(
    ("limit", "method", "media_type"),
    [("FILES_CONCURRENCY", "PUT", "text/csv"), ("PICTURES_CONCURRENCY", "POST", "application/pdf")],
)
def test_upload_waits_for_a_slot_before_its_body_is_read(
    api, limit, method, media_type, settings, monkeypatch
):
    """Eight uploads of 50 MB at once took a web process 900 MB."""
    address = path(make(api), "/rows") if method == "PUT" else "/store/associated/asset"
    read = []
    monkeypatch.setattr(RawParser, "parse", lambda *_: read.append(1) or b"Name\nAda\n")
    settings.CONCURRENCY_WAIT_SECONDS = 0
    setattr(settings, limit, 0)

    refused = api.generic(method, f"/api/v1{address}", b"x", media_type, headers={"Idempotency-Key": "k"})

    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")
    assert read == []
