import io
import itertools
import time
from contextlib import closing
from types import SimpleNamespace

import pytest
import zxingcpp
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from PIL import Image
from pypdf import PdfReader

from accounts.callers import Caller
from fulfillment.core.errors import ServiceBusy
from printing.typesetting import RenderingFailed, RenderingTimedOut, render_pdf_page
from stores.catalog.services.stores import save_profile
from stores.concurrency_limits import RENDERINGS
from stores.orders.models import Order, OrderItem, Shipment
from stores.orders.services import packing_slips, print_files
from stores.orders.services.packing_slips import printable, render_packing_slip
from tests.factories.orders import make_card, order_body

RIGHT, MARGIN, KERNING = 612, 56.6, 5
# How wide letters of the slip's font are at 10 points, before kerning.
WIDTHS = {"W": 10.19, "M": 9.2, "K": 6.81, "H": 7.4, "N": 7.56, "C": 6.85, "T": 5.9}
EXTERNAL = "\U00012000" + "W" * 98


@pytest.fixture
def order(shop):
    """Every text as long as it can be, and without a space to break a line at."""
    order = Order.objects.get(pk=shop.place().json()["OrderID"])
    names = {"Name": 100, "Company": 100, "Address1": 200, "Address2": 200, "City": 100, "State": 100}
    recipient = order.recipient | {name: "W" * length for name, length in names.items()}
    Order.objects.update(recipient=recipient, external_id=EXTERNAL, delivery_method_code="M" * 40)
    OrderItem.objects.update(
        item_key="K" * 64,
        product_external_id="H" * 64,
        product_name="N" * 200,
        quantity=2_000_000_000,
        unit_price=0,
        line_total=0,
    )
    Shipment.objects.create(order=order, carrier="C" * 60, tracking_number="T" * 100, shipped=timezone.now())
    return Order.objects.select_related("store").get()


def long_runs(pdf):
    """The pieces of text of one letter again and again: the letter, where it begins, where it ends at most."""
    found = []

    def note(text, matrix, place, font, size):
        letters = text.replace("\u200b", "").strip()
        if len(letters) > 5 and len(set(letters)) == 1 and letters[0] in WIDTHS:
            begin = matrix[4] + place[4]
            found.append((letters[0], begin, begin + len(letters) * WIDTHS[letters[0]]))

    for page in PdfReader(io.BytesIO(pdf)).pages:
        page.extract_text(visitor_text=note)
    return found


def test_slip_breaks_the_longest_texts_within_their_columns(order):
    runs = long_runs(render_packing_slip(order=order, caller=Caller(user_id=order.user_id)))

    assert {letter for letter, _, _ in runs} == set(WIDTHS)
    assert all(begin >= MARGIN and end <= RIGHT - MARGIN + KERNING for _, begin, end in runs)
    address = [end for letter, begin, end in runs if letter == "W" and begin < MARGIN + 1]
    delivery = min(begin for letter, begin, _ in runs if letter == "M")
    assert len(address) > 30
    assert max(address) < delivery
    columns = [[run for run in runs if run[0] == letter] for letter in "KNH"]
    for left, right in itertools.pairwise(columns):
        assert max(end for _, _, end in left) <= min(begin for _, begin, _ in right)


def test_slips_do_not_read_which_items_are_in_parcels(order):
    """The item keys of the parcels of 200 orders took 2 GB."""
    with CaptureQueriesContext(connection) as queries:
        render_packing_slip(order=order, caller=Caller(user_id=order.user_id))

    assert not [query for query in queries if '"item_keys"' in query["sql"]]


def test_character_no_font_has_is_named_and_no_empty_box(order):
    pages = PdfReader(
        io.BytesIO(render_packing_slip(order=order, caller=Caller(user_id=order.user_id)))
    ).pages

    assert "Your reference: [U+12000]WWW" in pages[0].extract_text().replace("\u200b", "")
    assert "\U00012000" not in pages[0].extract_text()


@pytest.fixture
def printed(shop):
    """An item with a print file and one without, of a store with a logo."""
    make_card(shop.world.associated, "printed")
    logo = io.BytesIO()
    Image.new("RGB", (60, 40), "#c00000").save(logo, "PNG")
    save_profile(
        store=shop.world.associated,
        values={"Country": "", "Website": "", "IsListed": False},
        logo=logo.getvalue(),
    )
    items = [
        {
            "ProductID": "printed",
            "Quantity": 200,
            "TemplateData": {"Name": "Ada", "Email": "ada@example.com"},
        },
        {"ProductID": "card", "Quantity": 200},
    ]
    placed = shop.place(body=order_body(Items=items)).json()
    assert "OrderID" in placed, placed
    return Order.objects.select_related("store").get(pk=placed["OrderID"])


def test_slip_has_the_logo_a_picture_of_what_was_printed_and_the_number_as_a_bar_code(printed):
    pdf = render_packing_slip(order=printed, caller=Caller(user_id=printed.user_id))

    page = Image.open(io.BytesIO(render_pdf_page(pdf, 0, pixels=1700, trimmed=False))).convert("RGB")
    assert [code.text for code in zxingcpp.read_barcodes(page)] == [str(printed.number)]
    assert len(PdfReader(io.BytesIO(pdf)).pages[0].images) == 2
    assert (192, 0, 0) in {color for _, color in page.getcolors(1 << 24)}


def test_slip_is_printed_without_pictures_while_none_can_be_drawn(printed, monkeypatch):
    def refuse(*args, **kwargs):
        raise print_files.PrintFileDamaged("Gone")

    monkeypatch.setattr(print_files, "read_print_file", refuse)
    pdf = render_packing_slip(order=printed, caller=Caller(user_id=printed.user_id))

    page = PdfReader(io.BytesIO(pdf)).pages[0]
    assert len(page.images) == 1
    assert "Total pieces" in page.extract_text()


def test_slip_is_printed_without_the_pictures_that_are_not_drawn_in_time(printed, monkeypatch):
    monkeypatch.setattr(packing_slips, "PICTURE_SECONDS", 0)
    pdf = render_packing_slip(order=printed, caller=Caller(user_id=printed.user_id))

    assert len(PdfReader(io.BytesIO(pdf)).pages[0].images) == 1


def test_letters_that_no_font_has_are_replaced_in_one_pass():
    """Keys of batch rows may have them: a slip of 500 such rows took minutes."""
    keys = ["".join(map(chr, range(start, start + 100))) for start in range(0x13000, 0x13400, 100)]
    started = time.thread_time()

    shown = printable([*keys, "e\u0301 \u0635\u0301\U00013000\u0301"])

    assert time.thread_time() - started < 1
    assert shown[0] == "".join(f"[U+{ord(letter):04X}]" for letter in keys[0])
    assert shown[-1] == "e\u0301 \u0635\u0301[U+13000]\u0301"


def test_texts_of_a_slip_are_made_within_the_limit_of_renderings(order, monkeypatch, settings):
    settings.RENDERINGS_CONCURRENCY = 1
    settings.CONCURRENCY_WAIT_SECONDS = 0
    monkeypatch.setattr(packing_slips, "_make_slip", lambda *arguments: pytest.fail("made without a slot"))

    with closing(RENDERINGS.stream(iter(()), "another")), pytest.raises(ServiceBusy):
        render_packing_slip(order=order, caller=Caller())


def test_slow_picture_leaves_time_to_lay_out_the_slip(printed, monkeypatch):
    now, seconds = [0.0], []

    def draw(**given):
        now[0] += packing_slips.SECONDS
        raise print_files.PrintFileDamaged("Slow")

    monkeypatch.setattr(packing_slips, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(packing_slips, "print_picture", draw)
    monkeypatch.setattr(
        packing_slips, "render_document", lambda *given, **named: seconds.append(named["seconds"]) or b""
    )

    render_packing_slip(order=printed, caller=Caller(user_id=printed.user_id))

    assert seconds == [packing_slips.SECONDS - packing_slips.PICTURE_SECONDS]


def test_slips_that_take_too_long_name_those_that_cannot_be_rendered(shop, monkeypatch):
    first, _ = [shop.place().json()["OrderNumber"] for _ in range(2)]
    outcomes = iter([RenderingFailed("all"), RenderingFailed("the first"), RenderingTimedOut("the second")])

    def render(*given, **named):
        raise next(outcomes)

    monkeypatch.setattr(packing_slips, "render_document", render)
    orders = Order.objects.select_related("store").order_by("number")

    with pytest.raises(packing_slips.PackingSlipsTooSlow, match=f"{first}: .* cannot be rendered"):
        packing_slips.render_packing_slips(orders=orders, caller=Caller())
