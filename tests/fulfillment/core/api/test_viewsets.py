"""What the view set handles by itself must be answered exactly as DRF answers it."""

import gc

import pytest
from django.urls import get_resolver
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from fulfillment.core.api.viewsets import ApiViewSet, FastPathRequest

ORDER = "/store/demo/order"
REQUESTS = [
    ("GET", "/store", b""),
    ("HEAD", "/store", b""),
    ("GET", "/store?verbose=perhaps", b""),
    ("GET", "/store/associated", b""),
    ("GET", "/store/nowhere", b""),
    ("GET", "/store/unassociated/product", b""),
    ("GET", "/store/associated/order/exportview", b""),
    ("GET", "/delivery/eddm", b""),
    ("DELETE", "/store/associated", b""),
    ("POST", "/store/associated", b""),
    ("POST", "/application", b'{"Name": "Mine"'),
    ("POST", "/application", b'{"Name": "Mine", "Nome": 1}'),
    ("POST", "/user/emails", b'["owner@print.example"]'),
    ("POST", "/user/emails", b""),
    ("POST", ORDER, b"[]"),
    ("POST", ORDER, b'{"Items": [], "Items": []}'),
    ("POST", ORDER, b"\xff"),
]
# Headers that change nothing of a request, and what the view set leaves to DRF.
ROUNDABOUT = {"Accept": "application/json, */*;q=0.1"}


@pytest.fixture
def handled(monkeypatch):
    """Which requests DRF handled."""
    seen = []
    dispatch = APIView.dispatch
    monkeypatch.setattr(
        APIView, "dispatch", lambda view, *rest, **named: seen.append(1) or dispatch(view, *rest, **named)
    )
    return seen


def send(client, method, path, body, **headers):
    response = client.generic(
        method, f"/api/v1{path}", body, content_type="application/json", headers=headers
    )
    # These are of each request; the number of the request is also in the body of an error.
    number = response.headers["X-Request-ID"]
    own = ("RateLimit", "traceparent", "X-Request-ID")
    kept = {**response.headers, **{name: name in response.headers for name in own}}
    return response.status_code, kept, response.content.replace(number.encode(), b"<number>")


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
@pytest.mark.parametrize("caller", ["user", "application", "nobody"])
def test_plain_requests_are_answered_as_drf_answers_them(world, handled, caller, method, path, body):
    client = {"user": lambda: world.as_user(world.user), "application": world.as_application}.get(caller)
    client = client() if client else world.as_user(world.user).__class__()

    plain = send(client, method, path, body)
    count = len(handled)
    full = send(client, method, path, body, **ROUNDABOUT)

    assert plain == full
    assert len(handled) == count + 1


def test_plain_requests_pass_drf_by(world, handled):
    client = world.as_user(world.user)
    send(client, "GET", "/store", b"")
    send(client, "POST", "/user/emails", b'["a@print.example"]')

    assert handled == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "multipart/form-data; boundary=x"])
def test_other_media_types_are_refused(world, content_type):
    response = world.as_user(world.user).generic(
        "POST", "/api/v1/user/emails", b"[]", content_type=content_type
    )

    assert response.status_code == 415


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", ""])
def test_json_is_json_however_it_is_named(world, content_type):
    response = world.as_user(world.user).generic(
        "POST", "/api/v1/user/emails", b"[]", content_type=content_type
    )

    assert response.status_code == 200


def test_every_view_set_of_the_api_is_ours():
    found = []

    def walk(patterns):
        for pattern in patterns:
            walk(getattr(pattern, "url_patterns", []))
            view = getattr(getattr(pattern, "callback", None), "cls", None)
            if view and issubclass(view, ViewSetMixin):
                found.append(view)

    walk(get_resolver().url_patterns)

    assert found
    assert [view for view in found if not issubclass(view, ApiViewSet)] == []


def test_plain_requests_leave_nothing_to_the_garbage_collector(world):
    client = world.as_application()
    gc.disable()
    try:
        before = [each for each in gc.get_objects() if type(each) is FastPathRequest]
        for method, path, body in REQUESTS[:6]:
            send(client, method, path, body)
        assert len([each for each in gc.get_objects() if type(each) is FastPathRequest]) == len(before)
    finally:
        gc.enable()
