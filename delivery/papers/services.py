"""The operator's PDF of PS Form 3587 and the price of postage: storing, mapping, filling."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import transaction

from delivery.papers.models import OfficialForm, PostagePrice
from delivery.papers.official_form import (
    MAX_COPIES,
    MAX_FILLED_BYTES,
    MAX_FORM_BYTES,
    check_mapping,
    copies_needed,
    read_field_names,
    suggest_mapping,
)
from delivery.papers.planning import DropRoute, plan_drops
from delivery.papers.selectors import form_in_use
from delivery.papers.sheets import Mailing, Postage, make_sheets
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import Conflict, Invalid
from printing.bounded import TaskFailed, run_bounded

logger = logging.getLogger("delivery.papers")

TASKS = "delivery.papers.official_form"
# A PDF of 5 MB can unpack to gigabytes.
MEMORY_BYTES = 512 << 20
SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class FilledForms:
    """One PDF with all copies; or none, and why."""

    content: bytes = b""
    count: int = 0
    note: str = ""


def add_official_form(*, file_name: str, content: bytes, by: str) -> OfficialForm:
    """Keeps the form with a mapping that is suggested by the names of its fields."""
    with FILES.slot(f"user:{by}" if by else ""):
        names = _field_names(content)
    digest = hashlib.sha256(content).hexdigest()
    if OfficialForm.objects.filter(sha256=digest).exists():
        raise Invalid.at("/file", "form_known", "This file has already been added.")
    return OfficialForm.objects.create(
        file_name=file_name[:200],
        sha256=digest,
        content=content,
        field_names=names,
        mapping=suggest_mapping(names),
    )


@transaction.atomic
def map_official_form(*, form: OfficialForm, mapping: Mapping[str, str]) -> OfficialForm:
    locked = OfficialForm.objects.select_for_update().get(pk=form.pk)
    locked.mapping = check_mapping(mapping, locked.field_names)
    locked.save(update_fields=["mapping"])
    return locked


def filled_forms(sheets: Mapping[str, Any]) -> FilledForms:
    form = form_in_use()
    if form is None:
        return FilledForms()
    copy_count = copies_needed(form.mapping, form.field_names, sheets)
    max_copies = min(MAX_COPIES, MAX_FILLED_BYTES // max(1, len(form.content)))
    if copy_count > max_copies:
        note = f"PS Form 3587 is not filled in: it needs {copy_count} copies, and the limit is {max_copies}."
        return FilledForms(note=note)
    content = _fill_form(form, sheets)
    if content is None:
        note = "PS Form 3587 could not be filled: its PDF is damaged. Copy the data of each drop by hand."
        return FilledForms(note=note)
    return FilledForms(content, copy_count)


def _field_names(content: bytes) -> list[str]:
    """Raises Invalid."""
    if len(content) > MAX_FORM_BYTES:
        return read_field_names(content)
    files, task = {"form": content}, f"{TASKS}:names_in_folder"
    try:
        with run_bounded(task, files, seconds=SECONDS, memory=MEMORY_BYTES) as (answer, _):
            if "code" in answer:
                raise Invalid.at("/file", answer["code"], answer["message"])
            return list(answer["names"])
    except TaskFailed as error:
        logger.warning("A PDF form could not be read", exc_info=error)
        message = "The PDF takes too much memory or time to read. Save it again with another program."
        raise Invalid.at("/file", "form_unreadable", message) from error


def _fill_form(form: OfficialForm, sheets: Mapping[str, Any]) -> bytes | None:
    """The filled form; None for a damaged form."""
    options = {"mapping": form.mapping, "names": form.field_names, "sheets": dict(sheets)}
    files, task = {"form": bytes(form.content)}, f"{TASKS}:fill_in_folder"
    try:
        with run_bounded(task, files, seconds=SECONDS, memory=MEMORY_BYTES, **options) as (count, folder):
            return (folder / "filled").read_bytes() if count is not None else None
    except TaskFailed as error:
        logger.error("PS Form 3587 could not be filled", exc_info=error)
        return None


def fill_sample(*, form: OfficialForm, by: str) -> bytes:
    """The form with invented values, to see whether the mapping is right."""
    routes = [DropRoute("00000", f"C{number:03}", "SAMPLE POST OFFICE", 240) for number in range(1, 4)]
    mailing = Mailing(
        order_number="SAMPLE",
        item_key="1",
        product="Sample",
        preparer="Sample printer",
        mailer=["Sample mailer", "1 Sample Street", "Sampletown 00000"],
        phone="000 000 0000",
        email="sample@example.com",
        size_mm=(Decimal("228.6"), Decimal("165.1")),
        vintage="2000-01",
        crid="0000000",
        payment="check",
        day_date=lambda day: date(2000, 1, 2 + day),
    )
    price = Postage(Decimal("0.25"), date(2000, 1, 1))
    sheets = make_sheets(mailing, plan_drops(routes), lambda day: price)
    with FILES.slot(f"user:{by}"):
        content = _fill_form(form, sheets)
    if content is None:
        raise Conflict("The PDF is damaged: it cannot be filled.", code="form_unfillable")
    return content


def save_postage_price(
    *, starts: date, per_piece: Decimal, note: str = "", price: PostagePrice | None = None
) -> PostagePrice:
    """Saves a new or changed price, which papers rendered later use."""
    if per_piece <= 0:
        raise Invalid.at("/per_piece", "not_positive", "The price of a piece must be above 0.")
    other_prices = PostagePrice.objects.filter(starts=starts)
    if price is not None:
        other_prices = other_prices.exclude(pk=price.pk)
    if other_prices.exists():
        raise Invalid.at("/starts", "starts_taken", f"There is already a price from {starts}.")
    record = price or PostagePrice()
    record.starts, record.per_piece, record.note = starts, per_piece, note
    record.save()
    return record
