"""What the pages of the API reference show of operations and events."""

from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.text import slugify

from fulfillment.core.reference.guides import ROOT
from fulfillment.core.reference.schemas import Member


@dataclass(frozen=True, slots=True)
class Refusal:
    status: str
    title: str
    when: SafeString
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    description: SafeString
    media: tuple[str, ...]
    headers: tuple[Member, ...]
    schema: Member | None
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Body:
    media: tuple[str, ...]
    schema: Member | None
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    title: str
    method: str
    path: str
    tag: str
    description: SafeString
    access: SafeString
    parameters: tuple[tuple[str, tuple[Member, ...]], ...]
    body: Body | None
    answers: tuple[Answer, ...]
    refusals: tuple[Refusal, ...]
    samples: tuple[tuple[str, str, str], ...]
    leads_to: tuple[str, ...]
    scopes: tuple[str, ...]
    text: str
    library: tuple[str, ...]

    @property
    def url(self) -> str:
        return f"{ROOT}/operations/{self.id}"

    @property
    def codes(self) -> set[str]:
        return {code for refusal in self.refusals for code in refusal.codes}


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    about: str
    description: SafeString
    headers: tuple[Member, ...]
    schema: Member
    example: str

    @property
    def url(self) -> str:
        return f"{ROOT}/events/{self.name}"


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    description: str
    operations: tuple[Operation, ...]

    @property
    def slug(self) -> str:
        return slugify(self.name)
