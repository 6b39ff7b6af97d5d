"""The operator's PDF of PS Form 3587: storing, mapping, filling."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pikepdf
from django.db import transaction

from delivery.papers.models import OfficialForm
from delivery.papers.official_form import (
    MAXIMUM_COPIES,
    check_mapping,
    copies_needed,
    fill_forms,
    read_field_names,
    suggest_mapping,
)
from delivery.papers.planning import DropRoute, plan_drops
from delivery.papers.selectors.forms import form_in_use
from delivery.papers.sheets import Mailing, Postage, papers_sheets
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.lanes import FILES

logger = logging.getLogger("delivery.papers")

# Exceptions of pikepdf for damaged forms.
UNFILLABLE = (pikepdf.PdfError, KeyError, TypeError, ValueError)


def add_official_form(*, file_name: str, content: bytes, by: str) -> OfficialForm:
    """Stores the form with a mapping suggested by its field names."""
    with FILES.slot(f"user:{by}" if by else ""):
        names = read_field_names(content)
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


def filled_forms(sheets: Mapping[str, Any]) -> tuple[Sequence[bytes], str]:
    """The filled copies for all drops; or none, and why."""
    form = form_in_use()
    if form is None:
        return [], ""
    needed = copies_needed(form.mapping, form.field_names, sheets)
    if needed > MAXIMUM_COPIES:
        return (
            [],
            f"PS Form 3587 is not filled: {needed} copies would be needed, at most {MAXIMUM_COPIES} are made.",
        )
    try:
        return fill_forms(bytes(form.content), form.mapping, form.field_names, sheets), ""
    except UNFILLABLE as error:
        logger.error("PS Form 3587 could not be filled", exc_info=error)
        return [], "PS Form 3587 could not be filled: its PDF is damaged. Copy the data of each drop by hand."


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
        day_date=lambda day: date(2000, 1, 2 + day),
    )
    price = Postage(Decimal("0.25"), date(2000, 1, 1))
    sheets = papers_sheets(mailing, plan_drops(routes), lambda day: price)
    with FILES.slot(f"user:{by}"):
        try:
            return fill_forms(bytes(form.content), form.mapping, form.field_names, sheets)[0]
        except UNFILLABLE as error:
            raise Conflict("The PDF is damaged: it cannot be filled.", code="form_unfillable") from error
