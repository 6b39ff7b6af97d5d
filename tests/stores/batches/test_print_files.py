"""The print file of each row has the text of that row."""

import pytest
from django.core.files.storage import default_storage

from stores.orders.models import OrderItem
from tests.support.batches import access_to, checked, make_batch, ordered, person
from tests.support.pdf_reading import written_text

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def test_print_files_of_500_rows_have_the_texts_of_their_rows(world):
    batch = checked(make_batch(access_to(world), [person(number, Key=f"k{number}") for number in range(500)]))

    batch = ordered(batch)

    items = {item.item_key: item for item in OrderItem.objects.all()}
    assert len(items) == batch.rows.filter(state="Ordered").count() == 500
    for number in range(500):
        item = items[f"k{number}"]
        assert item.label == f"Person {number:03} (k{number})"
        with default_storage.open(item.print_file) as file:
            text = written_text(file.read())
        assert f"Person{number:03}" in text
        assert f"person{number}@print.example" in text
