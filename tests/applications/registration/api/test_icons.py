from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image


def png(size=(215, 215)):
    out = BytesIO()
    Image.new("RGB", size, "teal").save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def client(world):
    return world.as_user(world.user)


@pytest.fixture
def path(world):
    return f"/api/v1/application/{world.application.pk}/icon"


def test_icon_sent_raw_is_served_in_both_sizes(client, path):
    assert client.post(path, png(), content_type="image/png").status_code == 204

    for size, query in ((215, ""), (94, "?size=94")):
        response = client.get(path + query)
        assert response["Content-Type"] == "image/png"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert Image.open(BytesIO(response.content)).size == (size, size)


def test_icon_sent_as_form_is_taken(client, path):
    assert client.post(path, {"anything": SimpleUploadedFile("x.png", png())}).status_code == 204


@pytest.mark.parametrize("count", [0, 2])
def test_icon_form_needs_exactly_one_file(client, path, count):
    files = {f"f{n}": SimpleUploadedFile("x.png", png()) for n in range(count)} or {"text": "x"}

    response = client.post(path, files)

    assert (response.status_code, response.json()["Code"]) == (400, "icon_one_file")


@pytest.mark.parametrize(
    "content_type", ["", "image/gif", "application/json", "application/octet-stream", "text/plain"]
)
def test_icon_with_another_content_type_is_415(client, path, content_type):
    assert client.generic("POST", path, png(), content_type=content_type).status_code == 415


@pytest.mark.parametrize("length", [102_400, 400_000])
def test_icon_too_large_is_refused_with_the_limit(client, path, length):
    response = client.post(path, png() + b"\0" * (length - len(png())), content_type="image/png")

    assert (response.status_code, response.json()["Code"]) == (400, "icon_too_large")
    assert "102,400" in response.json()["detail"]


def test_empty_icon_is_refused(client, path):
    assert client.generic("POST", path, b"", CONTENT_TYPE="image/png").json()["Code"] == "icon_empty"


def test_missing_icon_and_malformed_size_are_refused(client, path):
    assert client.get(path).status_code == 404
    client.post(path, png(), content_type="image/png")
    assert client.get(path + "?size=100").status_code == 400


def test_icon_is_answered_to_requests_for_a_picture(client, path):
    client.post(path, png(), content_type="image/png")

    for accept in ("image/png", "image/*", "*/*"):
        response = client.get(path, headers={"Accept": accept})
        assert (response.status_code, response["Content-Type"]) == (200, "image/png")
    again = client.get(path, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
