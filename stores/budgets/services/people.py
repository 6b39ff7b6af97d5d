"""Imports cost centers and the people in them from a CSV file: everything, or nothing and every mistake by its row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from io import StringIO
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.models import User
from fulfillment.core.csv_rows import BrokenRow, numbered_rows, typed_cell
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import DomainError, Fault, Invalid, raise_faults
from fulfillment.core.text import has_control_character
from stores.budgets.models import CostCenter, CostCenterMember
from stores.budgets.selectors.budgets import find_person
from stores.catalog.models import Store
from stores.catalog.models.store import validate_external_id
from stores.catalog.services.stores import lock_store

COLUMNS = ("Code", "Name", "Person")
MAX_ROWS = 2000
MAX_LIST_BYTES = 500_000
MAX_CODE_LENGTH, MAX_NAME_LENGTH = 64, 200


@dataclass(frozen=True, slots=True)
class PeopleRow:
    """`line` is that of the file."""

    line: int
    code: str
    name: str
    person: str


@dataclass(slots=True)
class PeoplePlan:
    """What an import does: names by code, and the code for each person, empty where the person leaves."""

    added: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    joined: list[tuple[User, str, str]] = field(default_factory=list)

    @property
    def changes(self) -> list[str]:
        return [
            *(
                _("%(code)s %(name)s: a new cost center") % {"code": code, "name": name}
                for code, name in self.added.items()
            ),
            *(
                _("%(code)s: its name becomes %(name)s") % {"code": code, "name": name}
                for code, name in self.renamed.items()
            ),
            *(_move_text(*move) for move in self.joined),
        ]

    @property
    def digest(self) -> str:
        return sha256("\n".join(self.changes).encode()).hexdigest()


def decode_file(content: bytes) -> str:
    if len(content) > MAX_LIST_BYTES:
        raise Invalid(
            _("The file has more than %(max_kilobytes)s kB.") % {"max_kilobytes": MAX_LIST_BYTES // 1000},
            code="file_too_large",
        )
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        message = _("The file is not text in UTF-8. Save it as CSV in UTF-8.")
        raise Invalid(message, code="not_utf8") from error


def read_people(text: str) -> list[PeopleRow]:
    """The rows of a file with the columns of COLUMNS; raises Invalid where it is not such a file."""
    names, lines = _filled_lines(text)
    if len(lines) > MAX_ROWS:
        raise Invalid(
            _("The file has %(rows)s rows; at most %(max_rows)s are read.")
            % {
                "rows": number_format(len(lines), force_grouping=True),
                "max_rows": number_format(MAX_ROWS, force_grouping=True),
            },
            code="too_many_rows",
        )
    message = _("Row %(line)s has %(cells)s cells, but the file has %(names)s columns.")
    faults = [
        Fault(f"/{line}", "cells_differ", message % {"line": line, "cells": len(cells), "names": len(names)})
        for line, cells in lines
        if len(cells) != len(names)
    ]
    raise_faults(faults, part="file")
    people = []
    for line, cells in lines:
        row = dict(zip(names, (typed_cell(cell.strip()) for cell in cells), strict=True))
        people.append(PeopleRow(line, row["Code"], row["Name"], row["Person"]))
    return people


def _filled_lines(text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and the cells of each line that is not blank."""
    heading = text.replace("\r", "\n").partition("\n")[0]
    delimiter = max(",;\t", key=heading.count)
    try:
        lines = list(numbered_rows(StringIO(text, newline=""), delimiter=delimiter))
    except BrokenRow as error:
        raise Invalid(str(error), code="csv_broken") from error
    names = [cell.strip() for cell in lines[0][1]] if lines else []
    if sorted(names) != sorted(COLUMNS):
        message = _("The first line must name the columns %(columns)s; found %(names)s.")
        found = {"columns": ", ".join(COLUMNS), "names": ", ".join(names)[:200] or _("nothing")}
        raise Invalid(message % found, code="columns_unknown")
    return names, [(line, cells) for line, cells in lines[1:] if any(cell.strip() for cell in cells)]


def plan_people(*, store: Store, rows: Sequence[PeopleRow], viewer: User) -> PeoplePlan:
    """What the import would do; raises Invalid with every mistake. People whom the file does not name stay."""
    name_by_code = dict(CostCenter.objects.filter(store=store).values_list("code", "name"))
    plan = PeoplePlan()
    faults: list[Fault] = []
    people: dict[UUID, tuple[PeopleRow, User]] = {}
    for row in rows:
        problems = [*_code_problems(row), *_name_problems(row, name_by_code, plan)]
        if row.code and not problems:
            _plan_name(row, name_by_code, plan)
        if row.person:
            try:
                user = find_person(row.person, viewer=viewer)
            except DomainError as error:
                problems.append(error.message)
            else:
                before = people.setdefault(user.pk, (row, user))[0]
                if before is not row:
                    problems.append(
                        _("%(person)s is already in row %(line)s.")
                        % {"person": row.person, "line": before.line}
                    )
        faults += [
            Fault(
                f"/{row.line}", "row_invalid", _("Row %(line)s: %(text)s") % {"line": row.line, "text": text}
            )
            for text in problems
        ]
    raise_faults(faults, part="file")
    _plan_members(store, plan, people)
    return plan


@long_transaction()
def import_people(*, store: Store, rows: Sequence[PeopleRow], viewer: User) -> PeoplePlan:
    """Does what `plan_people` says, all of it or nothing."""
    lock_store(store.pk)
    plan = plan_people(store=store, rows=rows, viewer=viewer)
    for code, name in plan.added.items():
        CostCenter.objects.create(store=store, code=code, name=name)
    for code, name in plan.renamed.items():
        center = CostCenter.objects.get(store=store, code=code)
        center.name = name
        center.save()
    centers = {center.code: center for center in CostCenter.objects.filter(store=store)}
    for user, _name, code in plan.joined:
        member = CostCenterMember.objects.filter(store=store, user=user).first()
        if not code:
            if member:
                member.delete()
            continue
        member = member or CostCenterMember(store=store, user=user)
        member.cost_center = centers[code]
        member.save()
    return plan


def _code_problems(row: PeopleRow) -> Iterator[str]:
    if not row.code:
        if not row.person:
            yield _("it names neither a cost center nor a person.")
        elif row.name:
            yield _("it has a name, but no code.")
        return
    try:
        validate_external_id(row.code)
    except ValidationError as error:
        yield f"{row.code[:80]}: {' '.join(error.messages)}"
    if len(row.code) > MAX_CODE_LENGTH:
        yield _("the code has more than %(most)s characters.") % {"most": MAX_CODE_LENGTH}


def _name_problems(row: PeopleRow, name_by_code: dict[str, str], plan: PeoplePlan) -> Iterator[str]:
    if len(row.name) > MAX_NAME_LENGTH:
        yield _("the name has more than %(most)s characters.") % {"most": MAX_NAME_LENGTH}
    if has_control_character(row.name):
        yield _("the name holds a control character.")
    earlier = plan.added.get(row.code) or plan.renamed.get(row.code)
    if earlier and row.name and row.name != earlier:
        yield _("%(code)s has the name %(name)s in an earlier row.") % {"code": row.code, "name": earlier}
    if row.code and not row.name and not earlier and row.code not in name_by_code:
        yield _("%(code)s is a new cost center and needs a name.") % {"code": row.code}


def _plan_name(row: PeopleRow, name_by_code: dict[str, str], plan: PeoplePlan) -> None:
    if row.code not in name_by_code:
        plan.added.setdefault(row.code, row.name)
    elif row.name and row.name != name_by_code[row.code]:
        plan.renamed[row.code] = row.name


def _plan_members(store: Store, plan: PeoplePlan, people: dict[UUID, tuple[PeopleRow, User]]) -> None:
    members = CostCenterMember.objects.filter(store=store, user__in=list(people))
    present = dict(members.values_list("user", "cost_center__code"))
    for row, user in people.values():
        before = present.get(user.pk, "")
        if before != row.code:
            plan.joined.append((user, before, row.code))


def _move_text(user: User, before: str, after: str) -> str:
    values = {"person": user.full_name, "before": before, "after": after}
    if not after:
        return _("%(person)s leaves %(before)s") % values
    if not before:
        return _("%(person)s joins %(after)s") % values
    return _("%(person)s moves from %(before)s to %(after)s") % values
