"""Every form of a page, sent as it stands, emptied, searched with, and with each of its buttons and actions."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin

from tests.benchmarks.page_searches import TERMS

TYPED = ("text", "search", "email", "url", "number", "password", "")
# Inside of a transaction that is undone, these stand for BEGIN and COMMIT.
MARKS_OF_TRANSACTIONS = ("SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT")
Values = dict[str, list[str]]


@dataclass
class Form:
    """What a browser would send, and between what a person could choose."""

    action: str
    method: str
    values: Values = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    has_files: bool = False


@dataclass(frozen=True)
class Sending:
    path: str
    method: str
    values: Values
    how: str

    def by(self, client: Any) -> Any:
        return client.get(self.path) if self.method == "get" else client.post(self.path, self.values)


class Reader(HTMLParser):
    """The forms of a page; a control may stand outside of its form and name it."""

    def __init__(self, path: str, page: str) -> None:
        super().__init__()
        self.path = path
        self.forms: list[Form] = []
        self.named: dict[str, Form] = {}
        self.inside: Form | None = None
        self.select: tuple[Form, str, list[str], list[str]] | None = None
        self.text: tuple[Form, str] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            action = urljoin(self.path, found.get("action", "") or self.path)
            self.inside = Form(action, found.get("method", "get").lower())
            self.forms.append(self.inside)
            self.named[found.get("id", "")] = self.inside
            return
        form = self.named.get(found["form"]) if "form" in found else self.inside
        if form is None or "disabled" in found:
            return
        if tag in ("input", "button"):
            self._control(form, tag, found)
        elif tag == "select":
            self.select = (form, found.get("name", ""), [], [])
        elif tag == "option" and self.select:
            self.select[2 if "selected" in found else 3].append(found.get("value", ""))
        elif tag == "textarea":
            self.text = (form, found.get("name", ""))
            form.typed.append(found.get("name", ""))
            form.values.setdefault(found.get("name", ""), [""])

    def _control(self, form: Form, tag: str, found: dict[str, str]) -> None:
        name, kind = found.get("name", ""), found.get("type", "submit" if tag == "button" else "text")
        if kind in ("submit", "image"):
            action = urljoin(self.path, found.get("formaction", "") or form.action)
            form.buttons.append((name, found.get("value", ""), action))
        elif kind == "file":
            form.has_files = True
        elif name == "_selected_action" or (kind in ("checkbox", "radio") and "checked" in found):
            form.values.setdefault(name, []).append(found.get("value", "on"))
        elif kind not in ("checkbox", "radio", "button", "reset") and name:
            form.values.setdefault(name, []).append(found.get("value", ""))
            if kind in TYPED:
                form.typed.append(name)

    def handle_data(self, data: str) -> None:
        if self.text:
            form, name = self.text
            form.values[name][-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = None
        elif tag == "textarea":
            self.text = None
        elif tag == "select" and self.select:
            form, name, chosen, others = self.select
            if name == "action":
                form.actions += [other for other in chosen + others if other]
            elif name:
                form.values[name] = chosen or others[:1]
            self.select = None


def sendings(path: str, page: str) -> Iterator[Sending]:
    """Every way to send the forms of a page. Signing out would end the walk."""
    for form in Reader(path, page).forms:
        if "logout" in form.action or "set_language" in form.action:
            continue
        yield from _searches(form) if form.method == "get" else _posts(form)


def _searches(form: Form) -> Iterator[Sending]:
    for term in TERMS if form.typed else ("",):
        values = form.values | {name: [term] for name in form.typed}
        yield Sending(f"{form.action.partition('?')[0]}?{urlencode(values, doseq=True)}", "get", {}, "search")


def _posts(form: Form) -> Iterator[Sending]:
    for action in form.actions:
        yield Sending(form.action, "post", form.values | {"action": [action]}, action)
    if form.actions:
        return
    # Where nothing is to be sent, a form has no button.
    for name, value, action in form.buttons:
        pressed = {name: [value]} if name else {}
        yield Sending(action, "post", form.values | pressed, f"{name} {value}".strip() or "sent")
    if form.typed and form.buttons:
        emptied = form.values | {name: [""] for name in form.typed}
        yield Sending(form.action, "post", emptied, "emptied")


@contextmanager
def undone(client: Any) -> Iterator[None]:
    """Everything written is rolled back, and the user stays signed in."""
    from django.db import transaction

    cookies = deepcopy(client.cookies)
    try:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
    finally:
        client.cookies = cookies


def timed(client: Any, sending: Sending) -> tuple[float, int, Any]:
    """Milliseconds, queries without those that only mark a transaction, and the answer; undone afterwards."""
    from django.db import connection, reset_queries
    from django.test.utils import CaptureQueriesContext

    # Django keeps 9,000 and counts from there.
    reset_queries()
    with undone(client), CaptureQueriesContext(connection) as queries:
        started = time.perf_counter()
        response = sending.by(client)
        milliseconds = 1000 * (time.perf_counter() - started)
    # The audit trail writes who acts before such a statement, too.
    asked = [query for query in queries if not query["sql"].split("; ")[-1].startswith(MARKS_OF_TRANSACTIONS)]
    return milliseconds, len(asked), response
