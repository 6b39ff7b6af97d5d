import pytest

from stores.orders.request_fields import postal_code_form


@pytest.mark.parametrize(
    ("country", "code"),
    [
        ("US", "80202"),
        ("US", "80202-1234"),
        ("US", "802021234"),
        ("CA", "K1A 0B1"),
        ("CA", "k1a0b1"),
        ("GB", "SW1A 1AA"),
        ("IE", "anything at all"),
    ],
)
def test_postal_code_of_the_country_is_taken(country, code):
    assert postal_code_form(country, code) is None


@pytest.mark.parametrize(
    ("country", "code"),
    [
        ("US", "8020"),
        ("US", "K1A 0B1"),
        ("US", "80202-12"),
        ("US", "80202\n"),
        ("US", "\u0668\u0660\u0662\u0660\u0662"),
        ("CA", "80202"),
        ("CA", "D1A 0B1"),
        ("CA", "K1A  0B1"),
    ],
)
def test_postal_code_of_another_form_is_named_with_the_right_one(country, code):
    example = {"US": "80202-1234", "CA": "K1A 0B1"}[country]

    assert (postal_code_form(country, code) or "").endswith(f"as in {example}")
