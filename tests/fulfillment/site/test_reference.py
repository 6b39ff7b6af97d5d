"""The API reference: every operation, event and guide has a page, readable without script under the strict policy."""

import ast
import json
import re
import shlex
import shutil
import subprocess

import pytest
from django.conf import settings
from lxml import etree

from fulfillment.core.api.schema import schema_document
from fulfillment.core.plugins import offered_values
from fulfillment.core.reference.guides import changes, guides, render_markdown
from fulfillment.core.reference.operations import events, operations
from fulfillment.core.reference.problems import problems
from fulfillment.core.reference.schemas import SchemaReader
from fulfillment.core.reference.search import find_entries
from tests.support.browser.crawler import LINK, names_in
from tests.support.pages import text

ROOT = "/api/v1/docs"


@pytest.fixture(scope="module")
def document():
    return schema_document()


def test_every_reference_page_runs_no_query_but_the_rate_limit(
    client, db, django_assert_num_queries, document
):
    ids = {entry["operationId"] for item in document["paths"].values() for entry in item.values()}
    addresses = [entry.url for group in (operations(), events(), guides()) for entry in group.values()]
    shown = [
        ROOT,
        f"{ROOT}/events",
        *addresses,
        *(problem.url for problem in list(problems().values())[::20]),
    ]
    with django_assert_num_queries(len(shown)) as queries:
        pages = {address: client.get(address) for address in shown}
    assert [query["sql"] for query in queries if "INSERT INTO accounts_ratewindow" not in query["sql"]] == []

    assert operations().keys() == ids
    assert events().keys() == document["webhooks"].keys()
    assert {page.status_code for page in pages.values()} == {200}
    for address, page in pages.items():
        assert "unsafe-" not in page["Content-Security-Policy"], address
        assert b" style=" not in page.content, address
        assert b"<script>" not in page.content, address
    start = pages[ROOT].content.decode()
    assert all(f'href="{address}"' in start for address in addresses)


def test_links_within_the_reference_lead_to_places_that_exist(client, db):
    shown = (operations(), events(), guides(), problems())
    addresses = [entry.url for group in shown for entry in group.values()]
    others = [ROOT, f"{ROOT}/events", changes().url]
    pages = {address: client.get(address) for address in [*others, *addresses]}
    names = {address: names_in(page) for address, page in pages.items()}
    dead = set()
    for address, page in pages.items():
        for link in LINK.findall(page.content.decode()):
            target, _, fragment = link.partition("#")
            target = target or address
            if target.startswith(ROOT) and (
                target not in names or (fragment and fragment not in names[target])
            ):
                dead.add((address, link))

    assert dead == set()


def test_type_of_every_problem_is_its_page(client, db):
    refused = client.get("/api/v1/store")

    assert refused.json()["type"] == f"{settings.PUBLIC_URL}{ROOT}/errors/subscription_key_missing"
    page = client.get(f"{ROOT}/errors/subscription_key_missing").content.decode()
    assert "The header <code>Ocp-Apim-Subscription-Key</code> is missing." in page
    assert "Get a new token; check the subscription key." in page
    assert "&quot;Code&quot;: &quot;subscription_key_missing&quot;" in page


def test_page_of_a_code_names_the_operations_that_answer_it(client, db):
    page = client.get(f"{ROOT}/errors/quote_expired").content.decode()

    assert f'href="{operations()["order_create"].url}"' in page
    assert len(problems()["rate_limit_exceeded"].operations) == 0
    assert client.get(f"{ROOT}/errors/no_such_code").status_code == 404


def test_every_page_has_a_markdown_form(client, db, settings):
    settings.ADDRESS_PAGES_PER_MINUTE = 10_000
    pages = [entry for group in (operations(), events(), guides(), problems()) for entry in group.values()]

    answers = {page.url: client.get(f"{page.url}.md") for page in pages}

    assert {response.status_code for response in answers.values()} == {200}
    assert {response["Content-Type"] for response in answers.values()} == {"text/markdown; charset=utf-8"}
    assert [
        url for url, response in answers.items() if re.search(r"<(p|div|code|a)\b", response.content.decode())
    ] == []
    order = answers[operations()["order_create"].url].content.decode()
    assert "`POST /api/v1/store/{storeID}/order`" in order
    assert re.search(r"^- `Recipient` \(object; required\)", order, re.MULTILINE)


def test_page_is_markdown_for_whom_prefers_it(client, db):
    url = f"{ROOT}/guides/webhooks"
    plain = client.get(url, headers={"accept": "text/markdown, text/html;q=0.5"})
    page = client.get(url, headers={"accept": "text/html,*/*"})

    assert (plain["Content-Type"], page["Content-Type"][:9]) == ("text/markdown; charset=utf-8", "text/html")
    assert "Accept" in plain["Vary"]
    alternate = f'<link rel="alternate" type="text/markdown" href="{url}.md">'
    assert alternate in text(page)


def test_index_for_programs_links_every_guide_operation_and_event(client, db):
    index = client.get("/llms.txt").content.decode()
    whole = client.get("/llms-full.txt").content.decode()

    for group in (operations(), events(), guides()):
        assert [
            entry.url for entry in group.values() if f"{settings.PUBLIC_URL}{entry.url}.md)" not in index
        ] == []
    assert index.startswith("# Store Fulfillment\n\n> ")
    assert all(f"# {guide.title}\n" in whole for guide in guides().values())
    assert "](../" not in whole


def test_api_catalog_leads_to_description_and_documents(client, db):
    response = client.get("/.well-known/api-catalog")
    (link,) = json.loads(response.content)["linkset"]

    assert response["Content-Type"].startswith("application/linkset+json")
    targets = [
        target["href"] for kind in ("service-desc", "service-doc", "service-meta") for target in link[kind]
    ]
    paths = [href.removeprefix(settings.PUBLIC_URL) for href in targets]
    assert [path for path in paths if client.get(path).status_code != 200] == []


def test_changelog_feed_has_each_release(client, db):
    """Read by a library for XML, as feed readers do."""
    response = client.get("/changelog.atom")
    feed = etree.fromstring(response.content)
    atom = "{http://www.w3.org/2005/Atom}"
    versions = re.findall(
        r"^## (\d\S*)$", (settings.BASE_DIR / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )

    assert response["Content-Type"].startswith("application/atom+xml")
    assert [title.text for title in feed.iterfind(f"{atom}entry/{atom}title")] == versions != []
    for entry in feed.iterfind(f"{atom}entry"):
        address, _, fragment = entry.find(f"{atom}link").get("href").partition("#")
        page = client.get(address.removeprefix(settings.PUBLIC_URL))
        assert f'id="{fragment}"' in page.content.decode()
        assert "<li>" in entry.findtext(f"{atom}summary")
        assert entry.findtext(f"{atom}updated").startswith("20")


def test_example_of_a_mistake_is_an_entry_of_a_problem():
    body = json.loads(problems()["max_length"].example)

    assert (body["Code"], body["Errors"][0]["Code"], body["status"]) == ("invalid_body", "max_length", 400)


def test_every_code_that_an_operation_answers_is_explained():
    assert {
        code for operation in operations().values() for code in operation.codes
    } - problems().keys() == set()


@pytest.mark.parametrize("operation_id", list(operations()))
def test_examples_are_code_that_can_be_run(operation_id):
    samples = {language: text for language, _, text in operations()[operation_id].samples}

    ast.parse(samples["python"])
    words = shlex.split(samples["curl"].replace("\\\n", " "))
    assert words[0] == "curl"
    if "-d" in words:
        json.loads(words[words.index("-d") + 1])


def test_examples_in_typescript_are_read_by_node(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("Node is not installed.")
    together = tmp_path / "samples.mjs"
    blocks = [
        text
        for operation in operations().values()
        for language, _, text in operation.samples
        if language == "typescript"
    ]
    imports = {line for text in blocks for line in text.splitlines() if line.startswith("import ")}
    # What TypeScript has beyond JavaScript here is one mark.
    bodies = [
        "\n".join(line for line in text.replace("_KEY!", "_KEY").splitlines() if line not in imports)
        for text in blocks
    ]
    together.write_text("\n".join([*imports, *("{\n" + body + "\n}" for body in bodies)]))

    assert subprocess.run(["node", "--check", str(together)], capture_output=True, text=True).stderr == ""


def test_schema_that_holds_itself_ends(document):
    schemas = {"Node": {"type": "object", "properties": {"Inner": {"$ref": "#/components/schemas/Node"}}}}
    node = SchemaReader({"components": {"schemas": schemas}}).read({"$ref": "#/components/schemas/Node"})

    assert node.members[0].members == ()


def test_limits_types_and_values_are_in_words(document):
    order = operations()["order_create"].body.schema
    members = {member.name: member for member in order.members}
    assert members["Items"].kind == "array of object"
    assert members["Items"].limits == ("1 or more elements", "at most 500 elements")
    assert members["ExternalID"].kind == "string or null"
    status = next(
        parameter
        for parameter in operations()["order_exportview"].parameters[1][1]
        if parameter.name == "status"
    )
    assert (status.kind, status.values[0]) == ("array of integer", "10")


def test_documents_bring_no_markup_and_no_links_that_are_not_on_the_site():
    page = render_markdown(
        "<script>x</script> [a](other.md) [b](#c)\n\n```html\n<b>\n```",
        lambda link: link if link[0] == "#" else None,
    )

    assert "<script>" not in page
    assert "<b>" not in page
    assert 'href="other.md"' not in page
    assert '<a href="#c">b</a>' in page


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("submit order", "Submit an order"),
        ("PostalCode quote", "Request prices"),
        ("template_unusable", "template_unusable"),
        ("order.shipped", "order.shipped"),
        ("retry-after", "Rate limits"),
    ],
)
def test_search_finds_operations_members_codes_events_and_guides(words, title):
    assert title in [hit.title for hit in find_entries(words)]


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("place an order", "order_create"),
        ("submit order", "order_create"),
        ("how do I place an order", "order_create"),
        ("How do I place an order?", "order_create"),
        ("create order", "order_create"),
        ("buy", "order_create"),
        ("get price", "quote_create"),
        ("get a price", "quote_create"),
        ("price", "quote_create"),
        ("how much does it cost", "quote_create"),
        ("shipping cost", "quote_create"),
        ("request a quote", "quote_create"),
        ("preview", "proof_create"),
        ("preview a product", "proof_create"),
        ("render template", "proof_create"),
        ("mockup", "proof_create"),
        ("track shipment", "order_read"),
        ("track my order", "order_read"),
        ("where is my order", "order_read"),
        ("order status", "order_read"),
        ("tracking number", "order_read"),
        ("webhook secret", "webhook_rotate_secret"),
        ("rotate secret", "webhook_rotate_secret"),
        ("signing secret", "webhook_rotate_secret"),
        ("rotate key", "application_key_regenerate"),
        ("new api key", "application_key_regenerate"),
        ("client secret", "application_key_regenerate"),
        ("cancel order", "order_cancel"),
        ("how can I cancel an order", "order_cancel"),
        ("upload image", "asset_create"),
        ("upload logo", "asset_create"),
        ("upload artwork", "asset_create"),
        ("preflight", "artwork_create"),
        ("check pdf", "artwork_create"),
        ("list products", "product_list"),
        ("catalog", "product_list"),
        ("list orders", "order_exportview"),
        ("all orders", "order_exportview"),
        ("export orders as csv", "order_exportview"),
        ("subscribe to events", "webhook_create"),
        ("add webhook", "webhook_create"),
        ("resend webhook", "webhook_delivery_resend"),
        ("retry delivery", "webhook_delivery_resend"),
        ("missed events", "webhook_recover"),
        ("test webhook", "webhook_test"),
        ("packing slip", "order_packing_slip"),
        ("download print file", "order_print_file"),
        ("approve order", "order_approve"),
        ("who am I", "user_self"),
        ("request log", "application_request_list"),
        ("how many households", "delivery_eddm_list"),
        ("join a store", "association_request"),
        ("get access to a store", "association_request"),
        ("sign up", "user_create"),
        ("mark as shipped", "order_status"),
        ("ship order", "order_status"),
        ("budget left", "budget_list"),
        ("delete webhook", "webhook_delete"),
        ("register application", "application_create"),
        ("list stores", "store_list"),
        ("carrier routes", "delivery_eddm_selection_create"),
    ],
)
def test_first_result_is_the_operation_that_a_person_means(words, operation):
    assert find_entries(words)[0].url == operations()[operation].url


@pytest.mark.parametrize(
    ("words", "things"),
    [
        ("budget left", "budget"),
        ("list orders", "order"),
        ("place an order", "order"),
        ("cancel order", "order"),
        ("approve order", "order"),
        ("where is my order", "order"),
        ("export orders as csv", "order"),
        ("get price", "price|product"),
        ("add webhook", "webhook"),
        ("resend webhook", "webhook|deliver"),
        ("webhook secret", "webhook|secret"),
        ("test webhook", "webhook|event"),
        ("missed events", "event|deliver"),
        ("new api key", "key|application"),
        ("rotate key", "key|application|secret"),
        ("get access to a store", "store|association"),
    ],
)
def test_first_three_results_are_about_the_thing_that_is_searched(words, things):
    titles = [hit.title.lower() for hit in find_entries(words)[:3]]

    assert [title for title in titles if not re.search(things, title)] == []


@pytest.mark.parametrize("words", ["webhook", "order", "how do I test a webhook", "proof of a product"])
def test_operations_come_before_guides_of_the_same_words(words):
    kinds = [hit.kind for hit in find_entries(words) if hit.title.lower() not in words]

    assert {"Operation", "Guide"} <= set(kinds)
    assert kinds.index("Operation") < kinds.index("Guide")


def test_question_with_a_word_that_is_nowhere_still_finds_the_operation():
    assert find_entries("how do I cancel a bananaorder order")[0].url == operations()["order_cancel"].url
    assert find_entries("xyzzy") == []


def test_phrases_are_of_operations_that_exist():
    named = {name for searched in offered_values("openapi", "SEARCHED_AS") for name in searched}

    assert named <= set(operations())
    assert all(operations()[name].phrases for name in named)


def test_operation_names_its_methods_in_the_client_libraries(client, db):
    assert operations()["order_create"].library == ("client.orders.create",)
    page = text(client.get(f"{ROOT}/operations/order_print_file"))
    assert "<code>client.orders.print_file</code> (Python)" in page
    assert "<code>client.orders.printFile</code> (TypeScript)" in page


def test_search_answers_hostile_words(client, db):
    for words in ("", "x" * 5000, "<script>alert(1)</script>", "%", "\t"):
        page = client.get(f"{ROOT}/search", {"q": words})
        assert page.status_code == 200
        assert b"<script>alert" not in page.content


@pytest.mark.parametrize("path", ["/operations/none", "/events/none", "/guides/none", "/none"])
def test_unknown_reference_page_is_an_html_404(client, db, path):
    page = client.get(ROOT + path)

    assert page.status_code == 404
    assert page["Content-Type"].startswith("text/html")
