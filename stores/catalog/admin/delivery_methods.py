"""Codes of delivery methods in forms: the known ones are offered, and a new one is confirmed."""

from difflib import get_close_matches
from typing import Any

from django import forms
from django.db.models import QuerySet

from stores.catalog.models import Store
from stores.catalog.selectors.delivery_methods import known_delivery_methods

CONFIRM = "new_delivery_methods"
LIST = "delivery-methods"


def confirm_field() -> forms.BooleanField:
    return forms.BooleanField(
        required=False,
        label="New delivery methods",
        help_text="Tick this to use a code that no product of the store has yet.",
    )


def stores_of_form(form: forms.ModelForm) -> QuerySet[Store]:
    """The product's store; before it is chosen, those that may be chosen."""
    product = form.instance
    if product.store_id:
        return Store.objects.filter(pk=product.store_id)
    chosen: Any = form.fields.get("store")
    return chosen.queryset if chosen else Store.objects.none()


def check_method(form: forms.ModelForm, column: str, known: list[str], *, is_confirmed: bool) -> None:
    """Writes a known code as it is known; a new one beside known ones must be confirmed."""
    code = str(form.cleaned_data.get(column) or "").strip()
    if not code or not known:
        return
    same = next((one for one in known if one.casefold() == code.casefold()), None)
    form.cleaned_data[column] = same or code
    if same is None and not is_confirmed:
        near = get_close_matches(code.upper(), {one.upper(): one for one in known}, 1, 0.6)
        meant = next((one for one in known if near and one.upper() == near[0]), None)
        hint = f"Did you mean {meant}?" if meant else f"Known are {', '.join(known[:10])}."
        form.add_error(
            column, f'"{code}" is new to this store. {hint} To use it, tick "New delivery methods".'
        )


def known_methods_of(form: forms.ModelForm) -> list[str]:
    return known_delivery_methods(stores_of_form(form))
