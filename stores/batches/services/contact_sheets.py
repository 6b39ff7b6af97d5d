"""Contact sheets of rows, and the columns of the file to fill in for a batch."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

from accounts.callers import Caller
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.files.stored import read_file
from printing.imposition import Cell, contact_sheet
from printing.text import is_blank
from stores.batches.files.writing import TemplateColumn
from stores.batches.models import Batch, BatchMode, BatchRow, RowState
from stores.batches.row_contents import QUANTITY, RECIPIENT_TARGETS, REQUIRED_RECIPIENT, ROW_KEY, given_key
from stores.batches.selectors.rows import page_counts, pdf_sizes, rows_of
from stores.proofs.file_names import proof_files
from stores.templates.selectors import fields_of

# The limit of one proof: the sheet holds its pages in memory. A larger one is mostly photos, and is shown as a picture.
MAX_PAGE_BYTES = 400_000
ROWS_AT_ONCE = 100
EXAMPLES = {
    "Name": "Dana Whitfield",
    "Company": "Acme Realty",
    "Address1": "1200 17th Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
    "Phone": "303 555 0134",
    "Email": "dana@acme.example",
    "Title": "Architect",
    "Website": "acme.example",
}


def render_contact_sheet(*, batch: Batch, rows: Sequence[BatchRow], caller: Caller) -> bytes:
    """The first page of each row, twenty to a page, with its number, name and key."""
    sizes = pdf_sizes(row.proof for row in rows)
    with FILES.slot(caller.key):
        cells = (_draw_cell(row, sizes.get(row.proof, 0)) for row in rows)
        return contact_sheet(cells, title=f"Contact sheet of {batch}")


def extreme_rows(batch: Batch, *, after: int = 0) -> list[BatchRow]:
    """For each field of the template the rows with its longest and shortest text, and one without.

    Where rows differ in their number of pages, also the first with the most.
    """
    fields = {field.field_name for field in fields_of(batch.product_id)}
    columns = {batch.mapping[target] for target in fields & batch.mapping.keys()}
    longest, shortest = dict[str, tuple[int, int]](), dict[str, tuple[int, int]]()
    blank, proofs = dict[str, int](), dict[int, str]()
    for pk, values, proof in _all_rows(batch):
        proofs[pk] = proof
        for column in columns:
            length_and_row = len(values.get(column, "").strip()), pk
            if not length_and_row[0]:
                blank.setdefault(column, pk)
                continue
            longest[column] = max(longest.get(column, length_and_row), length_and_row, key=itemgetter(0))
            shortest[column] = min(shortest.get(column, length_and_row), length_and_row)
    row_ids = {*blank.values(), *(pk for _, pk in (*longest.values(), *shortest.values()))}
    pages = page_counts(proofs.values())
    if len({*pages.values()}) > 1:
        row_ids.add(max(proofs, key=lambda pk: pages.get(proofs[pk], 0)))
    return list(rows_of(batch, after=after).filter(pk__in=row_ids))


def _all_rows(batch: Batch) -> Iterator[tuple[int, dict[str, str], str]]:
    """Key, cells and proof of each row, a few at a time: all together they may have 50 MB, in each of many requests."""
    rows, after = batch.rows.order_by("number").values_list("number", "pk", "values", "proof"), 0
    while part := list(rows.filter(number__gt=after)[:ROWS_AT_ONCE]):
        yield from (row[1:] for row in part)
        after = part[-1][0]


def _draw_cell(row: BatchRow, pdf_size: int) -> Cell:
    page = None
    if row.proof:
        pdf, picture = proof_files(row.proof, 1)
        try:
            page = read_file(pdf if pdf_size <= MAX_PAGE_BYTES else picture)
        except FileNotFoundError:
            page = None  # retention removed it; the next check renders it again
    key = given_key(row.key, row.values, row.batch.mapping)
    name = row.name or key
    head = f"{row.number}  {name}" if name else f"Row {row.number}"
    lines = [head, row.problems[0]["Message"] if row.problems else key]
    return Cell(page, lines, is_marked=row.state in (RowState.ERROR, RowState.FAILED))


def template_columns(batch: Batch) -> Iterator[TemplateColumn]:
    """The heads of the file to fill in, with an example row and the allowed values."""
    for field in fields_of(batch.product_id):
        example = field.choices[0] if field.choices else EXAMPLES.get(field.field_name, "")
        if is_blank(example):
            example = field.default_value
        yield TemplateColumn(field.field_name, example, field.choices, field.required, field.prompt)
    if batch.mode == BatchMode.RECIPIENTS:
        for target in RECIPIENT_TARGETS:
            member = target.partition(".")[2]
            is_required = member in REQUIRED_RECIPIENT and not batch.recipient.get(member)
            yield TemplateColumn(target, EXAMPLES.get(member, ""), (), is_required, "")
    quantity = str(batch.quantity or batch.product.default_quantity)
    yield TemplateColumn(QUANTITY, quantity, (), False, "Pieces of this row.")
    yield TemplateColumn(ROW_KEY, "1001", (), False, "Your own key of the row, such as a personnel number.")
