"""The documents stay true: their commands run, their links lead somewhere, every setting is described."""

import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from django.core.management import get_commands

from fulfillment.core.api.schema import schema_document
from tests.support.scenario import ApiClient

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")
VARIABLE = re.compile(r'environment\.(?:text|folder|flag|integer|names|networks|secrets?)\(\s*"([A-Z_]+)"')


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


PRIVATE_WORDS = re.compile(
    r"\b(doors?|leaves|judge[ds]?|mend(?:ed|s)?|told|asked|whoever|whatever|nobody|somebody|everybody|anew|two-step"
    r"|by (?:itself|themselves))\b",
    re.IGNORECASE,
)


def blocks(document: Path) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", document.read_text("utf-8"), flags=re.DOTALL)


def anchors_of(document: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(document: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = document.parent / name if name else document
    return target.exists() and (not anchor or anchor in anchors_of(target))


def found_in(documents: list[Path], search: Callable[[str], Iterable[str]]) -> dict[str, set[str]]:
    """By document: one test for all of them, as a test for each would cost more than its checks."""
    return {
        name_of(document): matches
        for document in documents
        if (matches := set(search(document.read_text("utf-8"))))
    }


def test_links_lead_to_places_that_exist():
    broken = {
        name_of(document): [
            link for link in LINK.findall(document.read_text("utf-8")) if not leads_somewhere(document, link)
        ]
        for document in DOCUMENTS
    }

    assert {name: links for name, links in broken.items() if links} == {}


def test_every_document_is_in_the_index():
    listed = LINK.findall((ROOT / "docs" / "README.md").read_text("utf-8"))
    documents = {(ROOT / "docs" / link.partition("#")[0]).resolve() for link in listed}

    assert {path for path in (ROOT / "docs").rglob("*.md") if path.name != "README.md"} - documents == set()


def test_page_of_more_than_250_lines_is_two():
    # One table of codes, which `fulfillment/core/reference/problems.py` reads; the changelog is a list of releases.
    excepted = {"docs/api/errors.md", "CHANGELOG.md"}
    lines = {name_of(document): len(document.read_text("utf-8").splitlines()) for document in DOCUMENTS}

    assert {name: count for name, count in lines.items() if count > 250 and name not in excepted} == {}


def test_files_of_tests_named_exist():
    def missing(text: str) -> list[str]:
        matches = re.findall(r"`(?:tests/)?([\w/]*test_\w+\.py)`", text)
        return [name for name in matches if not (ROOT / "tests" / name).exists()]

    assert found_in(DOCUMENTS, missing) == {}


def test_commands_named_exist():
    commands = get_commands()

    def unknown(text: str) -> list[str]:
        return [name for name in re.findall(r"manage\.py ([a-z_]+)", text) if name not in commands]

    assert found_in(DOCUMENTS, unknown) == {}


def test_documents_use_standard_words():
    assert found_in(DOCUMENTS[:1] + DOCUMENTS[2:], PRIVATE_WORDS.findall) == {}


def test_make_targets_named_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.M))

    def unknown(text: str) -> list[str]:
        matches = re.findall(r"`(?:[A-Z]+=\S+ )?make ([a-z]+)`|^make ([a-z]+)", text, flags=re.M)
        return [name for groups in matches if (name := groups[0] or groups[1]) not in targets]

    assert found_in(DOCUMENTS, unknown) == {}


def test_every_setting_read_from_the_environment_is_described():
    read = set(VARIABLE.findall((ROOT / "fulfillment" / "settings.py").read_text("utf-8")))
    described = (ROOT / "docs" / "operating" / "settings.md").read_text("utf-8")

    assert {name for name in read if f"`{name}`" not in described} == set()


def answers_of(document: Path, service: str) -> list[str]:
    """What the calls of the document print, pasted into one shell: later blocks use the token of the first."""
    scripts = [script for script in blocks(document) if "$TOKEN" in script]
    [token] = re.findall(r"^TOKEN=\$\(.*?\)$", scripts[0], flags=re.DOTALL | re.MULTILINE)
    return [
        subprocess.run(
            ["sh", "-euc", f"{token}\n{script}".replace("http://127.0.0.1:8000", service)],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for script in scripts
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_first_call_of_the_readme_works_as_pasted(live_server, made_demo):
    made_demo.restore()
    answers = answers_of(ROOT / "README.md", live_server.url)

    assert '"ID":"business-card-standard"' in answers[0]
    assert '"Side2URL":"http' in answers[1]
    [order] = answers_of(ROOT / "docs" / "orders.md", live_server.url)
    assert '"StatusName":"Received"' in order
    assert '"OptionID":"GROUND-3"' in order


@pytest.mark.slow
@pytest.mark.django_db
def test_published_requests_are_accepted_by_the_demo(made_demo):
    caller = made_demo.restore()["application"]
    client = ApiClient(caller["access_token"], caller["subscription_key"])
    paths = schema_document()["paths"]

    for path in ("quote", "product/{productID}/proof", "order"):
        [operation] = [
            item["post"] for name, item in paths.items() if name.endswith(f"/store/{{storeID}}/{path}")
        ]
        examples = operation["requestBody"]["content"]["application/json"]["examples"]
        address = f"/store/demo/{path}".format(productID="business-card-standard")
        for example in examples.values():
            response = client.call("POST", address, example["value"])
            assert response.status_code in {200, 201}, (path, response.content)
