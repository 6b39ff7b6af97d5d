"""The print file of each row has the text of that row."""

import pytest
from django.core.files.storage import default_storage

from stores.orders.models import OrderItem
from tests.factories.orders import price_values
from tests.factories.templates import field, make_card, page, text_box
from tests.support.batches.batches import access_to, checked, make_batch, ordered
from tests.support.cases import cases
from tests.support.printing.pdf_reading import written_text

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
# A batch of items takes 500, and checks 20 at a time.
ROWS = cases(110, 500)


def row(number: int) -> dict[str, str]:
    return {"Name": f"Person {number:03}", "Mail": f"person{number}@print.example", "Key": f"k{number}"}


def test_print_files_of_many_rows_have_the_texts_of_their_rows(world):
    """Of a plain card: the designed one takes twice as long to print and to read."""
    card = make_card(
        world.associated,
        DeliveredPrices=[price_values("GROUND", "0.12", is_default=True)],
        TemplateFields=[field("Name", Required=True), field("Email")],
        Template={"Pages": [page(text_box("Name"), text_box("Email", Y=30))]},
    )
    rows = [row(number) for number in range(ROWS)]
    batch = checked(make_batch(access_to(world), rows, product_id=card.external_id))

    batch = ordered(batch)

    items = {item.item_key: item for item in OrderItem.objects.all()}
    assert len(items) == batch.rows.filter(state="Ordered").count() == ROWS
    for number in range(ROWS):
        item = items[f"k{number}"]
        assert item.label == f"Person {number:03} (k{number})"
        with default_storage.open(item.print_file) as file:
            text = written_text(file.read())
        assert f"Person{number:03}" in text
        assert f"person{number}@print.example" in text
