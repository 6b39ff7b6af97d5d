"""The input of a delivery method: a known code, or a new one that is typed."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from stores.catalog.models import Store
from stores.catalog.selectors.stores import known_delivery_methods

# What the choice sends where the code is new.
NEW = "+"
MAX_CHARACTERS = 40


class MethodWidget(forms.Widget):
    """A list of the known codes, and an input that is shown while "New code …" is chosen."""

    def __init__(self, known_methods: Sequence[str] = ()) -> None:
        super().__init__()
        self.known_methods = known_methods

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        context = {"name": name, **method_context(str(value or ""), self.known_methods), "attrs": attrs or {}}
        return render_to_string("admin/stores/product/method.html", context)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        return read_method(data, name)

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return name not in data


def read_method(data: Any, name: str) -> str:
    method = str(data.get(name, ""))
    return str(data.get(f"{name}-new", "")).strip() if method == NEW else method.strip()


def method_context(value: str, known_methods: Sequence[str]) -> dict[str, Any]:
    """The context of the template of the choice."""
    is_new = value not in known_methods if value else not known_methods
    return {"value": value, "known": known_methods, "is_new": is_new, "new": NEW, "maximum": MAX_CHARACTERS}


def find_known_methods(form: forms.ModelForm) -> list[str]:
    """The delivery methods of the product's store; for a new product, of all stores the user may choose."""
    return known_delivery_methods(_stores_of(form))


def match_method(code: str, known_methods: Sequence[str]) -> str:
    """A new code that differs from a known one only in case is the known one."""
    return next(
        (known_code for known_code in known_methods if known_code.casefold() == code.casefold()), code
    )


def warn_of_typo(code: str, known_methods: Sequence[str], *, is_confirmed: bool) -> str:
    """The warning for a new code similar to a known one; a second save confirms it."""
    if not code or code in known_methods or is_confirmed:
        return ""
    known = {known_code.upper(): known_code for known_code in known_methods}
    near = get_close_matches(code.upper(), known, 1, 0.6)
    if not near:
        return ""
    message = _("Did you mean %(known)s? Choose it, or save again to use %(code)s.")
    return message % {"known": known[near[0]], "code": code}


def _stores_of(form: forms.ModelForm) -> QuerySet[Store]:
    product = form.instance
    if product.store_id:
        return Store.objects.filter(pk=product.store_id)
    store_field: Any = form.fields.get("store")
    return store_field.queryset if store_field else Store.objects.none()
