"""Faults of rows are named by the API, whichever program wrote the file: all of them in one file of each dialect."""

import pytest

from stores.batches.services.rows import CHECK_TASK
from tests.factories.orders import design_data, make_design
from tests.support.batches.batches import access_to, make_batch
from tests.support.batches.row_files import CSV_DIALECTS, file_of
from tests.support.servers.queued_jobs import work_off

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
# Each encoding with two of the three separators.
DIALECTS = [
    *(dialect for number, dialect in enumerate(CSV_DIALECTS) if number % 3 != number // 3 % 3),
    "XLSX",
    "JSON",
]
MEDIA_TYPES = {
    "XLSX": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "JSON": "application/json",
}
PRODUCT = "postcard-5x7"
TO = "Recipient."
GOOD = {
    **design_data(PRODUCT),
    # Neither is UTF-8 in a file of Windows-1252.
    "Agent": "Zoë Ånge",
    "Agency": "Café Ör",
    "RowKey": "",
    "Quantity": "100",
    f"{TO}Name": "Dana Whitfield",
    f"{TO}Company": "Acme Realty",
    f"{TO}Address1": "1200 17th Street",
    f"{TO}Address2": "",
    f"{TO}City": "Denver",
    f"{TO}State": "CO",
    f"{TO}PostalCode": "80202",
    f"{TO}CountryCode": "US",
    f"{TO}Phone": "",
    f"{TO}Email": "",
    f"{TO}LocationType": "",
}
# Column, cell, code. Of a key the row is found by its number as well.
FAULTS = [
    ("Agency", "a\0b", "control_character"),
    ("Agency", "a\x07b", "control_character"),
    ("Agency", "\x1b[31m", "control_character"),
    ("Agency", "a\x0bb", "control_character"),
    ("Agency", "a\x7fb", "control_character"),
    ("Agency", "ZÃ¼rich", "garbled_text"),
    ("Agency", "Itâ€™s", "garbled_text"),
    ("Note", "x" * 32_768, "cell_too_long"),
    (f"{TO}PostalCode", "2138", "zip_zeros_lost"),
    (f"{TO}PostalCode", "501", "zip_zeros_lost"),
    (f"{TO}PostalCode", "2138-1234", "zip_zeros_lost"),
    ("RowKey", "taken", "row_key_repeated"),
    ("RowKey", "a/b", "row_key_invalid"),
    ("RowKey", "a\nb", "row_key_invalid"),
    ("RowKey", "k" * 101, "row_key_invalid"),
    ("Address", "", "required"),
    ("Price", "  ", "required"),
    ("Agent", "", "required"),
    ("Phone", "call me", "not_a_phone"),
    ("Website", "not a web address", "not_a_url"),
    ("Headline", "Sold out", "not_a_choice"),
    ("Picture", "Castle", "unknown_picture"),
    ("Address", "A long way from here " * 20, "does_not_fit"),
    ("Note", "Words for the neighbors. " * 80, "does_not_fit"),
    ("Features", "one more line\n" * 40, "does_not_fit"),
    ("Quantity", "50", "quantity_below_minimum"),
    ("Quantity", "5000", "quantity_above_maximum"),
    ("Quantity", "125", "quantity_not_in_steps"),
    ("Quantity", "many", "invalid"),
    ("Quantity", "-100", "invalid"),
    ("Quantity", "0", "min_value"),
    ("Quantity", "1.5", "invalid"),
    (f"{TO}Name", "", "required"),
    (f"{TO}Address1", "", "required"),
    (f"{TO}City", "", "required"),
    (f"{TO}PostalCode", "", "required"),
    (f"{TO}CountryCode", "", "required"),
    (f"{TO}PostalCode", "8020A", "invalid_postal_code"),
    (f"{TO}CountryCode", "Texas", "invalid"),
    (f"{TO}CountryCode", "FR", "destination_not_served"),
    (f"{TO}Name", "n" * 101, "max_length"),
    (f"{TO}Company", "c" * 101, "max_length"),
    (f"{TO}Address1", "a" * 201, "max_length"),
    (f"{TO}Address2", "a" * 201, "max_length"),
    (f"{TO}City", "c" * 101, "max_length"),
    (f"{TO}State", "s" * 101, "max_length"),
    (f"{TO}Phone", "5" * 51, "max_length"),
    (f"{TO}Email", "nowhere", "invalid"),
    (f"{TO}LocationType", "Moon", "invalid_choice"),
]
ROWS = [
    {**GOOD, "RowKey": "taken"},
    *({**GOOD, "RowKey": f"row {number}", column: cell} for number, (column, cell, _) in enumerate(FAULTS)),
]


def test_faults_of_rows_are_named_by_the_api_in_each_dialect(world):
    make_design(world.associated, PRODUCT)
    cells = [list(GOOD), *(list(row.values()) for row in ROWS)]

    missed = {dialect: missed_faults(world, file_of(cells, dialect), dialect) for dialect in DIALECTS}

    assert {dialect: faults for dialect, faults in missed.items() if faults} == {}


def missed_faults(world, content, dialect):
    """Of each fault that was not named with its row, its column and a remedy: what was said of that row."""
    api = world.as_application()
    batch = make_batch(access_to(world), mode="Recipients", product_id=PRODUCT)
    address = f"/store/associated/batch/{batch.pk}"
    form = MEDIA_TYPES.get(dialect, "text/csv")
    response = api.generic("PUT", f"/api/v1{address}/rows", data=content, content_type=form)
    assert response.status_code == 202, response.content
    work_off(CHECK_TASK)
    said = {row["Number"]: row for row in api.call("GET", f"{address}/row?take=1000").json()}
    assert said[2]["Problems"] == [], dialect
    missed = []
    for number, (column, _, code) in enumerate(FAULTS, start=3):
        row = said[number]
        problems = [
            problem for problem in row["Problems"] if (problem["Code"], problem["Column"]) == (code, column)
        ]
        state = "Warning" if problems and problems[0]["Severity"] == "Warning" else "Error"
        if not problems or not problems[0]["Remedy"].endswith(".") or row["State"] not in {state, "Error"}:
            missed.append((number, column, code, row["State"], row["Problems"]))
    return missed
