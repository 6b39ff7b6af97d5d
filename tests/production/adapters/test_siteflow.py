"""Against a double of Site Flow that HP's own SDK samples order from."""

import json
from datetime import UTC, datetime
from ipaddress import ip_network

import pytest

from production.adapters import http
from production.adapters.http import ProviderResponse
from production.adapters.siteflow import SiteFlowAdapter, SiteFlowSettings
from production.adapters.siteflow_orders import siteflow_headers
from production.interface import Exchange, ProviderRefused, ProviderUnavailable
from tests.support.production.jobs import job_file, made_job
from tests.support.production.siteflow import SECRET, TOKEN, running_siteflow

SECRETS = {"secret": SECRET}
ORDER = "/api/order"
VALIDATE = "/api/order/validate"


@pytest.fixture
def flow(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    with running_siteflow() as running:
        yield running


PRINT = job_file("1001-1.pdf", url="https://files.example.com/1001-1.pdf")
PAPERS_NAME = "1001-1-eddm-papers.pdf"


def _papers(url="https://files.example.com/papers.pdf"):
    return job_file(PAPERS_NAME, b"%PDF-1.7 papers", url, is_printed=False)


def _adapter(flow, secrets=SECRETS, **changes):
    return SiteFlowAdapter(SiteFlowSettings(flow.settings(**changes), has_secrets=False).read(), secrets)


def _job(number="1001-1", **changes):
    files = [job_file(f"{number}.pdf", url="https://files.example.com/1001-1.pdf")]
    return made_job(number, files=changes.pop("files", files), **changes)


def _fault(when, path, act):
    """Once, at the path."""
    done = []

    def fault(method, at, moment):
        if moment == when and at == path and not done:
            done.append(True)
            return act
        return None

    return fault


@pytest.mark.parametrize("headers", ["oneflow", "hp"])
def test_order_is_validated_and_placed(flow, headers):
    sent = _adapter(flow, headers=headers).submit(_job())
    assert sent.reference == "of-1001-1"
    assert flow.requests == [("POST", VALIDATE), ("POST", ORDER)]
    [item] = flow.orders["1001-1"]["items"]
    assert (item["sku"], item["quantity"]) == ("BC-16-SILK", 500)
    assert item["components"][0]["path"] == "https://files.example.com/1001-1.pdf"
    [shipment] = flow.orders["1001-1"]["shipments"]
    assert shipment["shipTo"]["town"] == "Salt Lake City"
    assert shipment["carrier"] == {"alias": "Ground 3–5 days"}
    assert SECRET not in sent.exchange.request + sent.exchange.response
    assert TOKEN not in sent.exchange.request
    shown = _adapter(flow).preview(_job())[f"POST {flow.url}/api/order"]
    assert json.loads(shown)["orderData"] == flow.orders["1001-1"]


def test_tables_map_products_and_carriers(flow):
    _adapter(
        flow,
        products="BC-16-SILK = card / cover\n\nother = x",
        carriers="Ground 3–5 days = royalmail / firstclass",
        validate=False,
    ).submit(_job())
    data = flow.orders["1001-1"]
    assert (data["items"][0]["sku"], data["items"][0]["components"][0]["code"]) == ("card", "cover")
    assert data["shipments"][0]["carrier"] == {"code": "royalmail", "service": "firstclass"}
    errors = SiteFlowSettings({**flow.settings(products="card"), "secret": "x", "url": "ftp://x"}).mistakes
    assert sorted(errors) == ["products", "url"]


def test_papers_of_a_mailing_go_with_its_shipment_and_are_no_component(flow):
    """As `newAttachment` of HP's PHP sample makes one: path, type, content type, fetch."""
    sent = _adapter(flow).submit(_job(files=[PRINT, _papers()]))
    order = flow.orders["1001-1"]
    assert [part["path"] for part in order["items"][0]["components"]] == [PRINT.url]
    assert order["shipments"][0]["attachments"] == [
        {
            "path": "https://files.example.com/papers.pdf",
            "fetch": True,
            "contentType": "application/pdf",
            "type": "insert",
        }
    ]
    assert sent.exchange.digests.keys() == {PRINT.name, PAPERS_NAME}
    _adapter(flow).submit(_job("1002-1", files=[PRINT]))
    assert flow.orders["1002-1"]["shipments"][0]["attachments"] == []


def test_options_of_the_table_are_attributes_and_all_stand_beside(flow):
    _adapter(flow, attributes="Coating = finish\nRounded corners = corners\nFoil = foil").submit(_job())
    [item] = flow.orders["1001-1"]["items"]
    assert item["components"][0]["attributes"] == {"finish": "Satin", "corners": "Yes"}
    assert item["extraData"]["options"] == {"Coating": "Satin", "Rounded corners": "Yes", "Weight": "350"}
    _adapter(flow).submit(_job("1002-1"))
    assert "attributes" not in flow.orders["1002-1"]["items"][0]["components"][0]


def test_signature_is_the_one_of_the_public_samples():
    """HMAC-SHA256 of `METHOD path time`, computed apart with the key `secret`."""
    at = datetime(2022, 3, 10, 17, 16, 18, tzinfo=UTC)
    headers = siteflow_headers(
        "POST", "https://x.example/api/order?a=1", token="42", secret="secret", style="oneflow", now=at
    )
    assert headers["x-oneflow-date"] == "2022-03-10T17:16:18.000Z"
    assert (
        headers["x-oneflow-authorization"]
        == "42:17b5bbbc099218fd28981cbabb909b432fa460aeed118dd7386065a4886c322a"
    )


def test_connection_cut_after_the_order_was_accepted_gives_one_order(flow):
    flow.fault = _fault("after", ORDER, "cut")
    with pytest.raises(ProviderUnavailable) as caught:
        _adapter(flow).submit(_job())
    assert caught.value.is_unsent is False
    assert "1001-1" in caught.value.exchange.request
    again = _adapter(flow).submit(_job())
    assert again.reference == "1001-1"
    assert "already exists" in again.exchange.response
    assert list(flow.orders) == ["1001-1"]


@pytest.mark.parametrize(
    ("when", "path", "act", "is_unsent", "retry_after"),
    [
        ("before", VALIDATE, "cut", True, None),
        ("before", VALIDATE, 429, True, 7),
        ("before", ORDER, 429, True, 7),
        ("before", ORDER, 503, False, None),
        ("before", ORDER, "cut", False, None),
    ],
)
def test_busy_or_gone_is_tried_again(flow, when, path, act, is_unsent, retry_after):
    flow.fault = _fault(when, path, act)
    with pytest.raises(ProviderUnavailable) as caught:
        _adapter(flow).submit(_job())
    assert (caught.value.is_unsent, caught.value.retry_after) == (is_unsent, retry_after)
    assert _adapter(flow).submit(_job()).reference == "of-1001-1"


@pytest.mark.parametrize(
    "moment", ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", f"1 Jan 2027 00:00 +{10**14}"]
)
def test_impossible_date_asks_for_no_pause(moment):
    response = ProviderResponse(503, {"retry-after": moment}, "")

    error = http.failure("Site Flow", "", response, Exchange("", ""))

    assert isinstance(error, ProviderUnavailable)
    assert error.retry_after is None


def test_no_connection_at_all_is_unsent(flow):
    with pytest.raises(ProviderUnavailable, match="connection failed") as caught:
        _adapter(flow, url="http://127.0.0.1:1").submit(_job())
    assert caught.value.is_unsent is True


@pytest.mark.parametrize(
    ("changes", "secrets", "job", "message"),
    [
        ({}, {"secret": "wrong"}, {}, "does not accept the credentials"),
        ({}, {}, {}, "has no secret"),
        ({"destination": "nobody"}, SECRETS, {}, "destination.name: is not known"),
        ({}, SECRETS, {"quantity": 0}, r"items\[0\].quantity: must be at least 1"),
        ({}, SECRETS, {"recipient": {"Name": "Ana"}}, "shipTo.postcode: is required"),
        ({}, SECRETS, {"files": [job_file()]}, "no address that Site Flow could fetch"),
        ({}, SECRETS, {"sku": ""}, "has no SKU"),
        ({}, SECRETS, {"files": [PRINT, _papers("")]}, f"{PAPERS_NAME} has no address"),
        ({}, SECRETS, {"files": [_papers()]}, "has no print file"),
        ({"url": "https://10.0.0.1"}, SECRETS, {}, "not an address of the public Internet"),
        ({"url": "http://169.254.169.254"}, SECRETS, {}, "not an address of the public Internet"),
    ],
)
def test_permanent_failure_is_refused(flow, changes, secrets, job, message):
    with pytest.raises(ProviderRefused, match=message):
        _adapter(flow, secrets, **changes).submit(_job(**job))
    assert flow.orders == {}


def test_wrong_clock_is_refused_as_a_signature(flow):
    flow.clock_ahead = 3600
    with pytest.raises(ProviderRefused, match="clock"):
        _adapter(flow).check_connection()
    flow.clock_ahead = 0
    assert _adapter(flow).check_connection() == "Site Flow at 127.0.0.1 accepts the token and the secret."


def test_cancelling_works_until_the_press_begins(flow):
    adapter = _adapter(flow)
    reference = adapter.submit(_job()).reference
    adapter.cancel(_job(), reference)
    assert flow.cancelled == {"1001-1"}
    assert "already been cancelled" in _adapter(flow, account="").cancel(_job(), reference).response
    second = adapter.submit(_job("1001-2")).reference
    flow.printing.add("1001-2")
    with pytest.raises(ProviderRefused, match="Order is in production"):
        adapter.cancel(_job("1001-2"), second)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("received", "Acknowledged"),
        ("printready", "InProduction"),
        ("Component Printed", "InProduction"),
        ("shipped", "Shipped"),
        ("Shipment Dispatched", "Shipped"),
        ("cancelled", "Cancelled"),
        ("errored", "Failed"),
        ("order.submission.error", "Failed"),
    ],
)
def test_postback_becomes_a_report(flow, status, state):
    (report,) = _adapter(flow).parse_report(flow.postback("1001-1", status), {})
    assert (report.job_number, report.state) == ("1001-1", state)
    assert report.at == datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize("act", ["page", 302])
@pytest.mark.parametrize("path", [VALIDATE, ORDER])
def test_order_that_another_site_answered_is_tried_again(flow, path, act):
    flow.fault = _fault("before", path, act)
    with pytest.raises(ProviderUnavailable, match="web page or a redirect") as raised:
        _adapter(flow).submit(_job())
    assert (raised.value.is_unsent, flow.orders) == (path == VALIDATE, {})
    assert _adapter(flow).submit(_job()).reference == "of-1001-1"


@pytest.mark.parametrize("act", ["page", 302])
def test_web_page_cancels_nothing(flow, act):
    _adapter(flow).submit(_job())
    flow.fault = lambda *given: act
    with pytest.raises(ProviderUnavailable, match="web page or a redirect"):
        _adapter(flow).cancel(_job(), "of-1001-1")


def test_web_page_is_no_connection(flow):
    flow.fault = lambda *given: "page"
    with pytest.raises(ProviderUnavailable, match="see whether its address is right"):
        _adapter(flow).check_connection()


def test_reference_can_be_stored(flow):
    flow.take = lambda body: (201, {"_id": "a\0b \ud800"})
    assert _adapter(flow).submit(_job()).reference == "ab ?"


def test_postbacks_are_idempotent_and_keep_their_own_times(flow):
    def read(*given, **more):
        return _adapter(flow).parse_report(flow.postback(*given, **more), {})[0]

    late, first = read("1001-1", "received", "2026-05-04T11:00:00Z"), read("1001-1", "received")
    assert late.at < first.at
    assert read("1001-1", "received").identifier == first.identifier != late.identifier
    parts = {read("1001-1", "printed", sourceItemId="a", componentId=part).identifier for part in ("x", "y")}
    assert len(parts) == 2


def test_shipment_of_a_nested_postback_has_its_tracking(flow):
    body = {
        "event": "shipment.shipped",
        "timestamp": "2026-05-04T12:00:00Z",
        "order": {"orderData": {"sourceOrderId": "1001-1"}},
        "shipment": {
            "carrier": {"name": "UPS"},
            "trackingNumber": "1Z999",
            "trackingUrl": "https://example.com/1Z999",
        },
    }
    (report,) = _adapter(flow).parse_report(json.dumps([body]).encode(), {})
    assert (report.carrier, report.tracking_number, report.tracking_url) == (
        "UPS",
        "1Z999",
        "https://example.com/1Z999",
    )


def test_refused_second_submission_does_not_fail_the_first(flow):
    body = flow.postback("1001-1", "submission error", error={"message": "sourceOrderId already exists"})
    assert _adapter(flow).parse_report(body, {})[0].state == "Acknowledged"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"status=shipped", "Line 1: this is not JSON"),
        (b'"shipped"', "Postback 1: it must be an object"),
        (b'{"status": "shipped"}', "sourceOrderId is missing"),
        (b'{"sourceOrderId": "1", "status": "lost"}', "status is “lost”; it must be one of received"),
        (b'{"sourceOrderId": "1", "status": "shipped", "timestamp": "noon"}', "At is “noon”"),
    ],
)
def test_mistake_of_a_postback_is_named(flow, body, message):
    with pytest.raises(ValueError, match=message):
        _adapter(flow).parse_report(body, {})


@pytest.mark.parametrize("depth", [33, 900, 944, 5_000])
def test_refusal_with_deep_json_is_a_refusal_of_the_job(flow, monkeypatch, depth):
    deep = f'{{"error": {{"validations": [{{"message": {"[" * depth}{"]" * depth}}}]}}}}'
    monkeypatch.setattr(http, "send_request", lambda *_, **__: ProviderResponse(422, {}, deep))

    with pytest.raises(ProviderRefused, match="Site Flow refused: 422"):
        _adapter(flow).submit(_job())
