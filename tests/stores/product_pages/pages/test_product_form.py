"""The catalog and a product's form: what a person may use, and the API's own answers at the fields of a form."""

import json
import re
import shlex
from base64 import b64decode
from datetime import date
from html import unescape
from io import BytesIO

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image, ImageChops, ImageStat

from accounts.callers import Caller
from accounts.models import Role
from applications.metrics import flush_usage
from applications.registration.models import DailyUsage, LoggedRequest
from applications.registration.services.applications import create_application
from fulfillment.core.text import method_name
from fulfillment.templatetags.portal import date_range
from stores.catalog.models import StoreUsage
from stores.catalog.services.usage import flush_store_usage
from stores.orders.models import Order, Quote
from stores.orders.request_bodies import read_order_request
from stores.product_pages.pages.prices import PriceForm
from stores.proofs.models import Asset, Proof
from tests.factories.eddm import make_selection
from tests.factories.orders import make_card, make_design, make_product, price_values
from tests.factories.stores import make_store
from tests.support.browser.page_fixtures import picture


@pytest.fixture
def card(world) -> str:
    make_card(world.demo, "business-card")
    return "/catalog/demo/business-card"


def values(page: str) -> dict[str, str]:
    """What the form would send, as a browser reads it."""
    inputs = re.findall(r'<input[^>]*?name="([^"]+)"[^>]*?value="([^"]*)"', page)
    areas = re.findall(r'<textarea[^>]*?name="([^"]+)"[^>]*>([^<]*)<', page)
    return {name: unescape(value) for name, value in [*inputs, *areas]}


def kind_of(browser, address: str) -> str:
    response = browser.get(address)
    b"".join(response.streaming_content)
    return response["Content-Type"]


def test_catalog_has_the_stores_of_the_person_and_of_their_applications(world, signed_in):
    for_application = make_store(StoreID="apps-own", CompanyName="For The Application")
    Role.objects.create(application=world.application, store=for_application, grant="Store.Self.Read")

    own = signed_in(world.user).get("/catalog").content.decode()
    other = signed_in(world.outsider).get("/catalog").content.decode()

    for name in ("Associated Print", "For The Application", "Demo Print"):
        assert name in own
    assert "Unassociated Print" not in own
    assert ("Demo Print" in other, "Associated Print" in other) == (True, False)
    assert signed_in(world.outsider).get("/catalog/associated").status_code == 403
    assert signed_in(world.outsider).get("/catalog/nowhere").status_code == 404


def test_products_are_searched_by_word_and_category(world, browser):
    make_product(world.demo, "red-card", Name="Red card", Category="Cards")
    make_product(world.demo, "blue-flyer", Name="Blue flyer", Category="Flyers")

    page = browser.get("/catalog/demo?q=card").content.decode()
    assert ("Red card" in page, "Blue flyer" in page) == (True, False)
    page = browser.get("/catalog/demo?category=Flyers").content.decode()
    assert ("Red card" in page, "Blue flyer" in page) == (False, True)
    assert "No products match" in browser.get("/catalog/demo?q=zebra").content.decode()


def test_page_of_a_large_store_reads_only_the_products_that_it_shows(world, browser, monkeypatch):
    """A process does nothing else while it parses JSON: 4,000 products took more than a second for each page."""
    for number in range(30):
        make_product(world.demo, f"card-{number:02}", Description="x" * 1000, Category="Cards")
    parsed, loads = [], orjson.loads
    monkeypatch.setattr(orjson, "loads", lambda text: parsed.append(len(text)) or loads(text))

    first, second = (browser.get(f"/catalog/demo?page={page}").content.decode() for page in (1, 2))
    searched = browser.get("/catalog/demo?q=CARD-2+cards").content.decode()

    assert [page.count('class="tile"') for page in (first, second, searched)] == [24, 6, 10]
    assert ("card-00" in first, "card-29" in second, "card-20" in searched) == (True, True, True)
    assert max(parsed) < 10_000


def test_proof_shows_every_page_and_faults_stand_at_their_fields(world, browser, card):
    form = values(browser.get(card).content.decode())

    page = browser.post(card, {**form, "do": "proof"}).content.decode()
    pictures = re.findall(r'src="(/proofs/[^"]+)"', page)
    wrong = browser.post(card, {**form, "field-0": "", "field-3": "nobody", "do": "proof"}).content.decode()

    assert len(pictures) == 2
    assert {kind_of(browser, address) for address in pictures} == {"image/png"}
    assert re.search(r'href="/proofs/[^"]+\.pdf"', page)
    assert Proof.objects.count() == 1
    assert "Name on the card is required." in wrong
    assert "E-mail is not an address such as dana@example.com." in wrong
    assert wrong.count('aria-invalid="true"') == 2


def test_page_repeats_no_more_than_may_be_printed(world, browser, card):
    form = values(browser.get(card).content.decode())
    typed = {name: "'" * 90_000 for name in form if name.startswith("field-")}

    page = browser.post(card, {**form, **typed, "do": "proof"}).content.decode()

    assert "All values together have at most 200,000 bytes." in page
    assert len(page) < 15_000_000


def test_draft_is_the_page_of_the_proof_and_nothing_is_stored(world, browser, card):
    form = {**values(browser.get(card).content.decode()), "field-0": "Ada Byron"}

    draft = browser.post(f"{card}/draft", {**form, "typed": "field-0"})
    stored = Proof.objects.count()
    proof = browser.post(card, {**form, "do": "proof"}).content.decode()

    assert (draft.status_code, stored, list(draft.json()["Pages"])) == (200, 0, ["1"])
    drawn = b64decode(draft.json()["Pages"]["1"].removeprefix("data:image/png;base64,"))
    first = b"".join(browser.get(re.search(r'src="(/proofs/[^"]+)"', proof)[1]).streaming_content)
    shown = [Image.open(BytesIO(content)).convert("RGB") for content in (drawn, first)]
    assert shown[0].size == shown[1].size
    assert max(ImageStat.Stat(ImageChops.difference(*shown)).mean) < 3


def test_drafts_of_a_person_are_limited_in_a_minute(world, browser, card, settings):
    settings.DRAFTS_PER_MINUTE = 2
    form = {**values(browser.get(card).content.decode()), "typed": "field-0"}

    answers = [browser.post(f"{card}/draft", form) for _ in range(3)]

    assert [response.status_code for response in answers] == [200, 200, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 60
    assert browser.post(card, {**form, "do": "proof"}).status_code == 200, "proofs count apart"


def test_draft_of_what_a_proof_refuses_is_empty(world, browser, signed_in, card):
    form = values(browser.get(card).content.decode())
    make_card(world.unassociated, "business-card")

    wrong = browser.post(f"{card}/draft", {**form, "field-3": "nobody", "typed": "field-0"})
    unknown = browser.post(f"{card}/draft", {**form, "typed": "other"})
    foreign = browser.post("/catalog/not-associated/business-card/draft", {**form, "typed": "field-0"})

    assert wrong.json() == unknown.json() == {"Pages": {}}
    assert foreign.status_code in {403, 404}
    assert browser.get(f"{card}/draft").status_code == 405


def test_copied_requests_are_ones_the_api_takes(world, browser, card):
    form = values(browser.get(card).content.decode())
    page = browser.post(card, {**form, "field-0": "Seán O'Hara", "quantity": "200", "do": "proof"})
    caller = world.as_application()

    for name, status in (("proof", 200), ("quote", 201), ("order", 201)):
        code = re.search(rf'<code id="code-{name}-curl">(.*?)</code>', page.content.decode(), re.DOTALL)
        words = shlex.split(unescape(code[1]).replace("\\\n", " "))
        body = json.loads(words[words.index("-d") + 1])
        response = caller.call("POST", words[1].partition("/api/v1")[2], body)
        assert response.status_code == status, response.content
    assert Order.objects.get().items.get().template_data["Name"] == "Seán O'Hara"


@pytest.mark.parametrize("country", ["US", "DE", "FR"])
def test_example_order_to_any_country_is_one_the_api_takes(country):
    form = PriceForm({"DefaultQty": 100}, "100", country, "Commercial", [], [])

    request = read_order_request(form.order_body("card", None))

    assert request.recipient["PostalCode"]
    assert (request.price_request.country_code, request.price_request.location_type) == (
        country,
        "Commercial",
    )


def test_price_is_a_quote_of_the_chosen_application(world, browser, card):
    form = values(browser.get(card).content.decode())

    page = browser.post(card, {**form, "quantity": "200", "do": "quote"}).content.decode()
    wrong = browser.post(card, {**form, "quantity": "75", "do": "quote"}).content.decode()
    text = browser.post(card, {**form, "quantity": "many", "do": "quote"}).content.decode()

    assert "24.00 USD" in page
    assert Quote.objects.get().application == world.application
    assert "allowed: from 100 to 1000 in steps of 50" in wrong
    assert "Enter a whole number" in text


def test_price_of_a_product_with_too_many_options_is_that_of_the_default_speed(
    world, browser, card, monkeypatch
):
    form = values(browser.get(card).content.decode())
    browser.post(card, {**form, "do": "quote"})
    whole = json.loads(Quote.objects.latest("created").rendering)["Options"]
    monkeypatch.setattr("stores.orders.pricing.MAX_OPTIONS", len(whole) - 1)

    browser.post(card, {**form, "do": "quote"})

    shown = json.loads(Quote.objects.latest("created").rendering)["Options"]
    assert {option["ProductionDays"] for option in whole} == {1, 3}
    assert shown == [option for option in whole if option["ProductionDays"] == 3]


@pytest.mark.parametrize(
    ("first", "last", "shown"),
    [("02-26", "02-26", "26 Feb"), ("02-26", "03-01", "26 Feb \u2013 1 Mar")],
)
def test_days_of_arrival_name_what_differs(first, last, shown):
    year = timezone.localdate().year
    days = [date.fromisoformat(f"{year}-{day}") for day in (first, last)]

    assert date_range(*days) == shown
    assert date_range(*(day.replace(year=year + 1) for day in days)).count(str(year + 1)) >= 1


@pytest.mark.parametrize(("code", "name"), [("GROUND", "Ground"), ("TWO_DAY", "Two day"), ("EDDM", "EDDM")])
def test_codes_of_delivery_methods_have_names(code, name):
    assert method_name(code) == name


def test_demo_order_is_placed_once_and_shown(world, browser, card):
    form = values(browser.get(card).content.decode())

    response = browser.post(card, {**form, "do": "order"})

    order = Order.objects.get()
    assert response["Location"] == f"/applications/{world.application.pk}/orders/{order.pk}"
    assert (order.application, order.items.get().template_data["Name"]) == (world.application, "Ada Lovelace")
    page = browser.get(response["Location"]).content.decode()
    assert f"Order {order.number}" in page
    make_product(world.associated, "plain")
    refused = browser.post("/catalog/associated/plain", {"quantity": "100", "country": "US", "do": "order"})
    assert "Place real orders with the API" in refused.content.decode()
    assert Order.objects.count() == 1


def test_what_is_done_here_is_in_the_log_and_the_counts_of_the_application(world, browser, card):
    form = values(browser.get(card).content.decode())
    proof = browser.post(card, {**form, "do": "proof"})
    for action in ({"do": "quote", "quantity": "75"}, {"do": "order"}):
        browser.post(card, {**form, **action})
    browser.post(card, {**form, "as": "me", "do": "quote"})
    flush_usage()
    flush_store_usage()

    rows = LoggedRequest.objects.filter(application=world.application).order_by("time", "pk")
    store = "/api/v1/store/{storeID}"
    assert [(row.method, row.path, row.status, row.code) for row in rows] == [
        ("POST", f"{store}/product/{{productID}}/proof", 200, ""),
        ("POST", f"{store}/quote", 400, "quantity_below_minimum"),
        ("POST", f"{store}/order", 201, ""),
    ]
    assert rows[0].request_id.hex == proof["X-Request-ID"]
    day = DailyUsage.objects.get(application=world.application)
    assert (day.calls, day.client_errors) == (3, 1)
    # Its first steps with a token of its own are still to be done.
    assert not world.application.milestones.filter(name__in=["called", "read"]).exists()
    # The person's own price counts for the store alone.
    assert StoreUsage.objects.get(store=world.demo).calls == 4
    log = browser.get(f"/applications/{world.application.pk}/requests").content.decode()
    assert all(title in log for title in ("quantity_below_minimum", "201"))


def test_demo_order_is_placed_at_the_price_that_is_chosen(world, browser, card):
    prices = [price_values("GROUND", "0.12", is_default=True), price_values("AIR", "0.50")]
    make_design(world.demo, "business-card-standard", "two-ways", DeliveredPrices=prices)
    address = "/catalog/demo/two-ways"
    form = values(browser.get(address).content.decode())
    page = browser.post(address, {**form, "do": "quote"}).content.decode()
    options = re.findall(r'name="option" id="option-\d" value="([^"]+)"', page)

    for option in reversed(options):
        browser.post(address, {**form, "do": "order", "option": option})

    orders = Order.objects.order_by("number").values_list("delivery_method_code", flat=True)
    assert (len(orders), set(orders)) == (len(options), {"GROUND", "AIR"})


def test_test_application_places_test_orders_at_any_store_it_may_use(world, browser):
    make_product(world.associated, "plain")
    page = "/catalog/associated/plain"
    assert "Place a test order" not in browser.get(page).content.decode()
    trial = create_application(
        caller=Caller.on_pages(world.user), values={"Name": "Trial", "Keys": [{}], "IsTest": True}
    )
    for grant in ("Store.Self.Read", "Order.Self.Write"):
        Role.objects.create(application=trial, store=world.associated, grant=grant)

    assert "Place a test order" in browser.get(page).content.decode()
    form = {"as": str(trial.pk), "quantity": "100", "country": "US", "do": "order"}
    response = browser.post(page, form)

    order = Order.objects.get()
    assert response["Location"] == f"/applications/{trial.pk}/orders/{order.pk}"
    assert (order.is_test, order.application) == (True, trial)


def test_picture_is_the_applications_own_and_an_invalid_one_is_refused_at_its_field(world, browser):
    make_design(world.demo, "photo-postcard-6x9")
    address = "/catalog/demo/photo-postcard-6x9"
    form = values(browser.get(address).content.decode())
    file = SimpleUploadedFile("photo.png", picture(400), "image/png")

    added = browser.post(f"{address}/picture", {"as": world.application.pk, "file": file}).json()
    bad = browser.post(
        f"{address}/picture", {"as": world.application.pk, "file": SimpleUploadedFile("a.png", b"no picture")}
    ).json()
    with_form = browser.post(
        address,
        {**form, "do": "proof", "file-0": SimpleUploadedFile("a.png", b"no picture", "image/png")},
    ).content.decode()

    asset = Asset.objects.get()
    assert (added["AssetID"], added["Width"]) == (str(asset.pk), 400)
    assert asset.application == world.application
    assert "not a readable PNG or JPEG" in bad["Message"]
    assert "not a readable PNG or JPEG" in with_form
    page = browser.post(address, {**form, "field-0": added["AssetID"], "do": "proof"}).content.decode()
    assert re.search(r'src="/proofs/', page)


def test_user_cannot_act_as_an_application_of_others(world, signed_in, card):
    outsider = signed_in(world.outsider)

    outsider.post(card, {"as": str(world.application.pk), "quantity": "100", "country": "US", "do": "quote"})

    assert Quote.objects.get().application == world.other_application


def test_person_has_a_limit(world, browser, card, settings):
    settings.PRODUCT_PAGE_REQUESTS_PER_MINUTE = 1
    form = values(browser.get(card).content.decode())

    answers = [browser.post(card, {**form, "do": "proof"}) for _ in range(2)]

    assert [response.status_code for response in answers] == [200, 429]
    assert int(answers[1]["Retry-After"]) > 0
    assert "Rate limit is exceeded" in answers[1].content.decode()


def test_product_for_eddm_is_ordered_for_a_selection_of_the_application_that_made_it(world, signed_in):
    make_product(world.demo, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200, MaximumQty=25_000)
    selection = make_selection(application=world.application)
    foreign = make_selection(application=world.other_application)
    browser, page = signed_in(world.user), "/catalog/demo/mailer"

    opened = browser.get(page, {"selection": str(selection.pk)}).content.decode()
    values = {"selection": str(selection.pk), "as": str(world.application.pk), "do": "order"}
    refused = browser.post(page, {**values, "selection": str(foreign.pk)}).content.decode()
    browser.post(page, values)

    assert re.search(rf'value="{world.application.pk}" selected', opened)
    assert re.search(rf'value="{selection.pk}" selected', opened)
    assert f'"EddmSelectionID": "{selection.pk}"' in unescape(opened)
    assert "There is no such selection of yours" in refused
    item = Order.objects.get().items.get()
    assert (item.quantity, item.eddm["SelectionID"]) == (selection.pieces, str(selection.pk))


@pytest.mark.parametrize("path", ["/catalog/demo/business-card", "/catalog/demo/business-card/batch"])
def test_number_of_thousands_of_digits_is_an_error_of_its_field(world, browser, card, path):
    form = values(browser.get(path).content.decode())

    page = browser.post(path, {**form, "do": "quote", "mode": "Items", "quantity": "9" * 5000})

    assert page.status_code == 200
    assert "Enter a whole number" in page.content.decode()
