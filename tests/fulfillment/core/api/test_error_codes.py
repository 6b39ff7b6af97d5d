"""The list of codes in docs/api/errors.md is that of the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from fulfillment.core import errors

ROOT = Path(settings.BASE_DIR)
CODE = re.compile(r"[a-z]+(?:_[a-z]+)*")
DOCUMENTED = {
    code: int(status)
    for code, status in re.findall(
        r"^\| `(\w+)` \| (\d+) \|", (ROOT / "docs/api/errors.md").read_text(), re.MULTILINE
    )
}
STATUSES = {
    name: kind.status
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.DomainError)
}
# What refuses requests of the API; other modules refuse what people do on pages and with commands.
OVER_THE_API = (
    "accounts/api/*.py",
    "accounts/selectors/users.py",
    "accounts/services/associations.py",
    "accounts/services/users.py",
    "applications/*/api/*.py",
    "applications/registration/services/[aikr]*s.py",
    "applications/webhooks/se*/*.py",
    "delivery/*/api.py",
    "stores/*/api/*.py",
    "stores/*/api.py",
    "stores/orders/pric*.py",
    "stores/orders/services/[ptv]r*.py",
    "stores/orders/services/orders.py",
    "stores/orders/services/validation.py",
    "stores/proofs/s*/*.py",
    "stores/proofs/selectors.py",
    "printing/typesetting/fields.py",
    "printing/typesetting/render_input.py",
)
# Of a quote that is created, of messages, of pages and of commands.
OTHERS = {"delivery_method_left_out", "low_resolution", "page_not_found", "too_long", "user_ambiguous"}


def calls(module: str) -> Iterator[tuple[str, list[str]]]:
    """What is called, and the codes among its arguments."""
    for node in ast.walk(ast.parse(module)):
        if not isinstance(node, ast.Call):
            continue
        named = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
        if isinstance(node.func, ast.Attribute) and node.func.attr in {"at", "_refuse"}:
            kind, places = getattr(node.func.value, "id", ""), node.args[1:2]
        else:
            kind, places = getattr(node.func, "id", ""), []
        if kind in {"Fault", "Problem"}:
            places = node.args[1:2]
        codes = [constant.value for constant in (*named, *places) if isinstance(constant, ast.Constant)]
        yield kind, [code for code in codes if isinstance(code, str) and CODE.fullmatch(code)]


def refusals() -> Iterator[tuple[str, str]]:
    """What is called with a code, and the code."""
    for pattern in OVER_THE_API:
        paths = list(ROOT.glob(pattern))
        assert paths, pattern
        for path in paths:
            for kind, codes in calls(path.read_text()):
                yield from ((kind, code) for code in codes)


def test_every_code_has_the_status_that_it_is_refused_with():
    statuses = {(code, STATUSES[kind]) for kind, code in refusals() if kind in STATUSES}

    assert len(statuses) > 40
    assert {code for code, status in statuses if DOCUMENTED.get(code, status) != status} == set()


def test_every_code_of_a_refusal_is_explained():
    codes = {code for _, code in refusals()}

    assert len(codes) > 60
    assert codes - DOCUMENTED.keys() - OTHERS == set()
