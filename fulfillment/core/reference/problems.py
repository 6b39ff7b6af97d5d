"""The page of each error code, from the tables of docs/api/errors.md and the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from fulfillment.core.api.errors import problem, status_title
from fulfillment.core.errors import Fault
from fulfillment.core.reference.guides import ROOT, Prose, guide_link, guides, render_markdown
from fulfillment.core.reference.operations import CODES_OF_ALL, operations
from fulfillment.core.reference.schemas import Operation

ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (.*) \|$", re.MULTILINE)
REMEDY = re.compile(r"^\| ((?:\d{3}(?:, )?)+) \| (.*) \|$", re.MULTILINE)
MISTAKES = "## Codes of mistakes"


@dataclass(frozen=True, slots=True)
class ProblemPage:
    """`about` and `remedy` are Markdown; `is_mistake` for a code of an entry in `Errors`."""

    code: str
    status: int
    about: str
    remedy: str
    is_mistake: bool

    @property
    def url(self) -> str:
        return f"{ROOT}/errors/{self.code}"

    @property
    def title(self) -> str:
        return status_title(self.status)

    @property
    def cause(self) -> Prose:
        return _render_text(f"{self.about[:1].upper()}{self.about[1:]}.")

    @property
    def what_to_do(self) -> Prose:
        return _render_text(f"{self.remedy[:1].upper()}{self.remedy[1:]}.")

    @property
    def example(self) -> str:
        message = f"{self.about.replace('`', '')}."
        mistakes = [Fault("/Items/0", self.code, message)] if self.is_mistake else []
        response = problem(self.status, "invalid_body" if mistakes else self.code, message, faults=mistakes)
        body = {**json.loads(response.content), "RequestID": "6819aa7a03ddc6b7c8c5cd14f676013c"}
        return json.dumps(body, indent=2, ensure_ascii=False)

    @property
    def operations(self) -> list[Operation]:
        """The operations that name this code; none for a code of all operations."""
        if any(self.code in codes for codes in CODES_OF_ALL.values()):
            return []
        return [
            operation
            for operation in operations().values()
            if any(self.code in refusal.codes for refusal in operation.refusals)
        ]


@cache
def problems() -> dict[str, ProblemPage]:
    return {problem.code: problem for problem in _read_problems(guides()["errors"].text)}


def _read_problems(text: str) -> Iterator[ProblemPage]:
    remedies = {
        int(status): remedy for statuses, remedy in REMEDY.findall(text) for status in statuses.split(", ")
    }
    for part, is_mistake in zip(text.split(MISTAKES), (False, True), strict=True):
        for code, status, about in ROW.findall(part):
            yield ProblemPage(code, int(status), about, remedies[int(status)], is_mistake)


def _render_text(text: str) -> Prose:
    return render_markdown(text, guide_link("api"))
