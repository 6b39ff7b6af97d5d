"""Codes of delivery methods in forms: a known one is selected, a new one is typed into its own input."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from stores.catalog.models import Store
from stores.catalog.selectors.delivery_methods import known_delivery_methods

# What the choice sends where the code is new.
NEW = "+"
MAX_CHARACTERS = 40


class MethodWidget(forms.Widget):
    """A list of the known codes, and an input that is shown while "New code …" is chosen."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        super().__init__()
        self.known = known

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        context = {"name": name, **method_choice(str(value or ""), self.known), "attrs": attrs or {}}
        return render_to_string("admin/stores/product/method.html", context)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        return sent_method(data, name)

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return name not in data


def sent_method(data: Any, name: str) -> str:
    chosen = str(data.get(name, ""))
    return str(data.get(f"{name}-new", "")).strip() if chosen == NEW else chosen.strip()


def method_choice(value: str, known: Sequence[str]) -> dict[str, Any]:
    """The context of the template of the choice."""
    is_new = value not in known if value else not known
    return {"value": value, "known": known, "is_new": is_new, "new": NEW, "maximum": MAX_CHARACTERS}


def known_methods_of(form: forms.ModelForm) -> list[str]:
    """Of the product's store; for a new product, of all stores the user may choose."""
    return known_delivery_methods(_stores_of(form))


def as_known(code: str, known: Sequence[str]) -> str:
    """A new code that differs from a known one only in case is the known one."""
    return next((one for one in known if one.casefold() == code.casefold()), code)


def misspelled(code: str, known: Sequence[str], *, is_confirmed: bool) -> str:
    """The warning for a new code similar to a known one; a second save confirms it."""
    if not code or code in known or is_confirmed:
        return ""
    near = get_close_matches(code.upper(), {one.upper(): one for one in known}, 1, 0.6)
    meant = next((one for one in known if near and one.upper() == near[0]), None)
    return f"Did you mean {meant}? Choose it, or save again to use {code}." if meant else ""


def _stores_of(form: forms.ModelForm) -> QuerySet[Store]:
    product = form.instance
    if product.store_id:
        return Store.objects.filter(pk=product.store_id)
    chosen: Any = form.fields.get("store")
    return chosen.queryset if chosen else Store.objects.none()
