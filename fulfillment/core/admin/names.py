"""Names of models, fields, columns, filters and actions in the reader's language, without a mark at each of them.

They become lazy when an admin is registered, so that migrations keep the English. `make messages` reads `NAMES`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.forms.utils import pretty_name
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from unfold.utils import display_for_label

from fulfillment.core.recorded_texts import translated

NAMES: set[str] = set()
# Names that Django makes of fields, in the words of docs/style.md.
WORDS = {
    "API key": "APIKey",
    "hold window minutes": "hold window (minutes)",
    "approval hours": "time for an approval (hours)",
    "email": "e-mail",
    "Email": "E-mail",
    "support email": "support e-mail",
    "application url": "application URL",
    "delivery method code": "delivery method",
    "option id": "option of the quote",
    "product ids": "products",
    "sha256": "SHA-256",
    "logo sha256": "SHA-256 of the logo",
}
# Grants, and words of the API.
_OF_THE_API = re.compile(r"\w+(\.\w+)+|\w*[a-z][A-Z]\w*")
_TEXTS = ("empty_help", "search_help_text", "add_label", "plural_name", "verbose_name", "verbose_name_plural")


def lazy_text(text: Any, words: Mapping[str, str] = WORDS) -> Any:
    if not isinstance(text, str) or not text or isinstance(text, SafeString) or _OF_THE_API.fullmatch(text):
        return text
    text = words.get(text, text)
    NAMES.add(text)
    return gettext_lazy(text)


def name_admin(admin: Any) -> None:
    """Names an admin's class, its model and its inlines."""
    name_model(admin.model)
    for name in _TEXTS:
        if isinstance(getattr(admin, name, None), str):
            setattr(admin, name, lazy_text(getattr(admin, name)))
    admin.help_texts = {name: lazy_text(text) for name, text in getattr(admin, "help_texts", {}).items()}
    if admin.fieldsets:
        admin.fieldsets = [
            (lazy_text(title), {**options, "description": lazy_text(options.get("description"))})
            for title, options in admin.fieldsets
        ]
    name_form(admin.form)
    for name in (*admin.readonly_fields, *getattr(admin, "list_display", ()), *(admin.fields or ())):
        _name_method(admin, name)
    for name in getattr(admin, "actions", None) or ():
        _name_method(admin, name)
    for entry in getattr(admin, "list_filter", ()):
        if isinstance(entry, type):
            entry.title = lazy_text(entry.title)  # type: ignore[attr-defined]
    for inline in getattr(admin, "inlines", ()):
        name_admin(inline)


def translated_badge(text: Any, tones: Mapping[str, str]) -> tuple[str, str] | None:
    """The text of a badge in the reader's language, and its tone."""
    for name, tone in tones.items():
        if text in (name, label := gettext(str(name))):
            return label, tone
    return None


def name_model(model: type[Model]) -> None:
    options: Any = model._meta
    if isinstance(options.verbose_name, str):
        # Django's own plural is a lazy "%ss".
        options.verbose_name_plural = lazy_text(str(options.verbose_name_plural))
        options.verbose_name = lazy_text(options.verbose_name)
    # The fields of the audit trail are copies.
    trail = getattr(model, "pgh_event_model", None)
    copies = trail._meta.fields if trail else []
    for field in (*options.fields, *options.many_to_many, *copies):
        if field.name.startswith("pgh_"):
            continue
        # Django reads `_verbose_name` for migrations.
        field.verbose_name = lazy_text(field.verbose_name)
        field.help_text = lazy_text(field.help_text)
        if field.choices:
            # Migrations have the labels.
            field.choices = [(value, lazy_text(label, {})) for value, label in field.flatchoices]
        of_list: Any = getattr(field, "base_field", None)
        if of_list is not None and of_list.choices:
            of_list.choices = [(value, lazy_text(label, {})) for value, label in of_list.flatchoices]


def name_form(form: Any) -> None:
    for name, field in form.declared_fields.items():
        field.label = lazy_text(field.label or pretty_name(name))
        field.help_text = lazy_text(field.help_text)
        if isinstance(choices := getattr(field, "choices", None), list):
            field.choices = [(value, lazy_text(label)) for value, label in choices]
    meta = getattr(form, "Meta", None)
    for texts in (getattr(meta, "labels", None), getattr(meta, "help_texts", None)):
        if texts:
            texts.update({name: lazy_text(text) for name, text in texts.items()})


def _name_method(admin: Any, name: Any) -> None:
    method: Any = name if callable(name) else getattr(admin, name, None)
    if method is None:
        method = _find_attribute(admin.model, name)
    if method is None or not callable(method):
        return
    if isinstance(getattr(method, "short_description", None), str):
        method.short_description = lazy_text(method.short_description)
    if isinstance(label := getattr(method, "label", None), dict):
        NAMES.update(text for text in label if isinstance(text, str))


def _find_attribute(model: type[Model], name: str) -> Callable[..., Any] | None:
    try:
        model._meta.get_field(name)
    except FieldDoesNotExist:
        return getattr(model, name, None)
    return None


class BadgeMixin:
    """Shows a column that is a badge in the list as a badge on the record's page, too."""

    list_display: Any
    # Fields that are stored in English and shown in the reader's language.
    recorded_fields: Collection[str] = ()

    @property
    def readonly_preprocess_fields(self) -> dict[str, Callable[[str], str]]:
        labels = {
            name: getattr(getattr(self, name, None), "label", None) for name in map(str, self.list_display)
        }
        badges = {
            name: partial(_show_badge, label) for name, label in labels.items() if isinstance(label, dict)
        }
        return {**badges, **dict.fromkeys(self.recorded_fields, translated)}


def _show_badge(tones: Mapping[str, str], text: str) -> str:
    if (badge := translated_badge(text, tones)) is None:
        return text
    label, tone = badge
    return str(display_for_label(label, "", {label: tone}))
