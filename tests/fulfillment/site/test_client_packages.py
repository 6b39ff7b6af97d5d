"""The page Client libraries, and the files that pip and npm install from this service."""

import re

import pytest

from tests.support.servers.client_library import ROOT

pytestmark = pytest.mark.django_db
WHEEL = "store_fulfillment-0.1.0-py3-none-any.whl"


@pytest.fixture
def packages(settings, tmp_path):
    settings.CLIENT_DOWNLOADS = tmp_path
    (tmp_path / "python" / "dist").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("not for download")
    return tmp_path


def test_packages_are_installed_from_the_address_the_page_shows(client, packages, settings):
    (packages / "python" / "dist" / WHEEL).write_bytes(b"wheel")
    (packages / "store-fulfillment-0.1.0.tgz").write_bytes(b"package")

    page = client.get("/clients").content.decode()
    assert "does not offer" not in page
    for command, content in (("pip", b"wheel"), ("npm", b"package")):
        address = re.search(rf"{command} install (\S+?)<", page)[1]
        response = client.get(address.removeprefix(settings.PUBLIC_URL))
        assert (response.status_code, response.getvalue()) == (200, content)
        assert response["Content-Disposition"].startswith("attachment")


def test_service_without_packages_says_who_builds_them(client, packages):
    page = client.get("/clients").content.decode()

    assert "This service does not offer the packages" in page
    assert "pip install" not in page


@pytest.mark.parametrize("name", ["secret.txt", "..%2Fsecret.txt", "..", "python", WHEEL])
def test_nothing_else_is_served(client, packages, name):
    assert client.get(f"/clients/{name}").status_code == 404


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_portal_shows_the_receiver_of_the_documents(client, language):
    document = (ROOT / "docs/webhooks.md").read_text("utf-8").partition("## A receiver")[2]
    text = (ROOT / f"templates/portal/code/receiver.{language}.html").read_text("utf-8")

    assert re.search(rf"```{language}\n(.*?)```", document, re.DOTALL)[1] == text
