"""The lines of "Try it" do what they say when they are pasted, in each of their languages."""

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.test import Client

from tests.factories.orders import make_product
from tests.support.browser.interop_browser import Browser
from tests.support.patience import PATIENCE
from tests.support.scenario import confirm_password

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

# How each is run, how a person would hand it the code that came back, and how its tokens are looked at.
LANGUAGES = {
    "curl": (["bash", "-euc"], "read -r CODE", ""),
    "python": ([sys.executable, "-uc"], "code = input()", 'print(tokens["access_token"])'),
    "javascript": (
        ["node", "--input-type=module", "-e"],
        'const code = await new Promise((next) => process.stdin.once("data", (sent) => next(`${sent}`.trim())));',
        "console.log(tokens.access_token); process.exit();",
    ),
}


class Examples(HTMLParser):
    """What the page shows as code, by the ID that its button copies."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "code" and (name := dict(attrs).get("id")):
            self.inside, self.texts[name] = name, ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == "code" else self.inside

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[self.inside] += data


@pytest.mark.parametrize("language", LANGUAGES)
def test_pasted_lines_read_products_and_sign_a_person_in(world, live_server, settings, language):
    command, receive, show = LANGUAGES[language]
    if shutil.which(command[0]) is None or (language == "curl" and shutil.which("curl") is None):
        pytest.skip(f"{language} is not installed")
    product = make_product(world.associated)
    settings.PUBLIC_URL = live_server.url
    settings.API_URL = f"{live_server.url}/api/v1"
    person = Client()
    person.force_login(world.user)
    confirm_password(person)
    page = person.get(f"/applications/{world.application.pk}/try?fill").content.decode()
    shown = Examples(page).texts
    parts = [shown[f"{name}-{language}"] for name in ("token", "products", "authorize")]
    code = "\n".join([*parts, receive, shown[f"exchange-{language}"], show])

    with subprocess.Popen(
        [*command, code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        printed, sign_in = "", f"{live_server.url}/oauth/authorize"
        while sign_in not in printed:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            printed += line
        # What curl prints does not end its line.
        address = printed[printed.index(sign_in) :].strip()
        back = Browser(world.user).consent(address)
        response = parse_qs(urlsplit(back).query)
        tokens, complaints = process.communicate(response["code"][0] + "\n", timeout=PATIENCE)

    assert process.returncode == 0, complaints
    assert product.name in printed
    assert response["state"] == parse_qs(urlsplit(address).query)["state"]
    token = tokens.partition('"access_token":')[2].partition('"')[2].partition('"')[0] or tokens.strip()
    assert _opens_the_api(live_server.url, world, token)


def _opens_the_api(url, world, token):
    headers = {"Authorization": f"Bearer {token}", "Ocp-Apim-Subscription-Key": world.keys[world.user.pk]}
    return requests.get(f"{url}/api/v1/store", headers=headers, timeout=PATIENCE).status_code == 200
