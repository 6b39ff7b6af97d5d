"""The key of a row, and the item and recipient that it orders; no database access."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from fulfillment.core.text import parse_number
from printing.text import is_blank
from stores.batches.files.matching import RECIPIENT, without_accents
from stores.batches.files.records import FileFault, FileRow, Problem
from stores.catalog.models.store import EXTERNAL_ID
from stores.orders.models import RECIPIENT_FIELDS

ROW_KEY, QUANTITY = "RowKey", "Quantity"
# Members of a recipient without which no order is written.
REQUIRED_RECIPIENT = ("Name", "Address1", "City", "PostalCode", "CountryCode")
RECIPIENT_TARGETS = tuple(RECIPIENT + name for name in (*RECIPIENT_FIELDS, "LocationType"))
KEY_LENGTH = 100
MAX_CELL_LENGTH = 10_000
# In one line: the addresses of pages contain it.
KEY_FORM = re.compile(r"[^/\s](?:[^/\r\n]*[^/\s])?\Z")
ITEM_KEY_FORM = re.compile(EXTERNAL_ID)
DIGEST_LENGTH = 20


@dataclass(frozen=True, slots=True)
class KeyedRow:
    number: int
    key: str
    name: str
    values: Mapping[str, str]
    problems: tuple[Problem, ...]
    digest: str


def keyed_rows(rows: Iterable[FileRow], mapping: Mapping[str, str]) -> Iterator[KeyedRow]:
    """Each row with its key: that of its column, else a digest of its values and the number of its occurrence."""
    occurrences: Counter[str] = Counter()
    keys: set[str] = set()
    for row in rows:
        digest = cells_digest(row.values)
        occurrences[digest] += 1
        while (own := digest if occurrences[digest] == 1 else f"{digest}.{occurrences[digest]}") in keys:
            occurrences[digest] += 1
        problems = list(row.problems)
        key, problem = _key_of(row, mapping, keys)
        problems += [problem] if problem else []
        key = key or own
        keys.add(key)
        yield KeyedRow(
            row.number,
            key,
            name_of(row.values, mapping),
            row.values,
            tuple(problems),
            content_digest(row.values, mapping),
        )


def _key_of(
    row: FileRow, mapping: Mapping[str, str], taken_keys: Iterable[str]
) -> tuple[str, Problem | None]:
    column = mapping.get(ROW_KEY)
    key = row.values.get(column, "").strip() if column else ""
    if not key:
        return "", None
    if key in taken_keys:
        message = f"{ROW_KEY}: {key[:KEY_LENGTH]} is the key of a row above."
        return "", FileFault(
            "row_key_repeated",
            message,
            f"Give each row its own key in the column {column}.",
            field=ROW_KEY,
            column=column,
            value=key,
        ).record
    if len(key) > KEY_LENGTH or not KEY_FORM.match(key):
        message = f"{ROW_KEY}: use 1 to {KEY_LENGTH} visible characters in one line, without a slash."
        return "", FileFault(
            "row_key_invalid",
            message,
            f"Shorten or correct the key in the column {column}.",
            field=ROW_KEY,
            column=column,
            value=key,
        ).record
    return key, None


def cells_of(values: Mapping[str, str], mapping: Mapping[str, str]) -> dict[str, str]:
    """The cells by target."""
    return {target: values.get(column, "") for target, column in mapping.items()}


def name_of(values: Mapping[str, str], mapping: Mapping[str, str]) -> str:
    """The name by which people know the row: of its recipient, or of its template field `Name`."""
    column = mapping.get(f"{RECIPIENT}Name") or mapping.get("Name") or mapping.get("FullName")
    return " ".join(values.get(column, "").split())[:100] if column else ""


def given_key(key: str, values: Mapping[str, str], mapping: Mapping[str, str]) -> str:
    """The key that the file gives the row; empty for one made of what the row says, which tells people nothing."""
    column = mapping.get(ROW_KEY)
    return key if column and values.get(column, "").strip() == key else ""


def searched_words(key: str, values: Mapping[str, str]) -> str:
    """What the filter of rows looks through: each cell and the key in a line, folded as what is looked for."""
    return "\n".join(map(fold_text, (key, *values.values())))


def fold_text(text: str) -> str:
    return without_accents(" ".join(text.split())).lower()


def content_digest(values: Mapping[str, str], mapping: Mapping[str, str]) -> str:
    """Equal for rows that ask for the same."""
    return hashlib.sha256(orjson.dumps(cells_of(values, mapping), option=orjson.OPT_SORT_KEYS)).hexdigest()


def item_of(
    cells: Mapping[str, str], *, product_id: str, quantity: int, blank_is_default: frozenset[str]
) -> dict[str, Any]:
    """An item of an order's body. A blank cell prints nothing, but for choices and pictures: these have defaults."""
    data = {
        target: text
        for target, text in cells.items()
        if target not in {ROW_KEY, QUANTITY}
        and not target.startswith(RECIPIENT)
        and not (target in blank_is_default and is_blank(text))
    }
    quantity_text = cells.get(QUANTITY, "").strip()
    number = parse_number(quantity_text, most=10**11)
    # What is no number stays text: the form of an order refuses it.
    requested = quantity_text if number is None else number
    item = {"ProductID": product_id, "Quantity": requested if quantity_text else quantity}
    return {**item, "TemplateData": data} if data else item


def recipient_of(cells: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The recipient of an order's body: blank cells are those of the batch."""
    values = {
        target.removeprefix(RECIPIENT): text.strip()
        for target, text in cells.items()
        if target.startswith(RECIPIENT) and not is_blank(text)
    }
    if "CountryCode" in values:
        values["CountryCode"] = values["CountryCode"].upper()
    return {**defaults, **values}


def item_key_of(key: str, number: int) -> str:
    """The key of the row as that of an item, which takes fewer characters."""
    return key if ITEM_KEY_FORM.match(key) else f"row-{number}.{cells_digest({'': key})[:8]}"


def cells_digest(values: Mapping[str, str]) -> str:
    """Equal for rows of the same cells."""
    content = orjson.dumps(dict(values), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH]
