from collections.abc import Iterable

from django import forms
from django.utils.html import format_html

from accounts.models import AssociationRequest
from accounts.permissions import EXPLANATIONS, STORE_GRANTS, Permission
from stores.catalog.models import Store

# The API's names of the fields.
REQUEST_FIELDS = {"StoreID": "store", "Grants": "grants", "Message": "message"}

GRANTS_FIELD = forms.MultipleChoiceField(
    label="Permissions",
    required=False,
    choices=[
        (name.value, format_html('{} <span class="why">{}</span>', name.label, EXPLANATIONS[name.value]))
        for name in sorted(Permission, key=lambda one: ".All." in one.value)
        if name.value in STORE_GRANTS
    ],
    widget=forms.CheckboxSelectMultiple,
)
MESSAGE_FIELD = forms.CharField(
    label="Message",
    max_length=2000,
    required=False,
    widget=forms.Textarea(attrs={"rows": 3}),
    help_text="Who you are and what you want to print. Shown to the store when it decides.",
)


class RequestStoreForm(forms.Form):
    """Requests a store by its ID, whether the directory lists it or not."""

    store = forms.CharField(
        label="Store ID",
        max_length=64,
        widget=forms.TextInput(
            attrs={"list": "known-stores", "spellcheck": "false", "autocapitalize": "none"}
        ),
        help_text="For example harbor-press. Find stores in the directory, or ask the store for its ID.",
    )
    grants = GRANTS_FIELD
    message = MESSAGE_FIELD

    def clean_store(self) -> Store:
        store = Store.objects.filter(external_id=self.cleaned_data["store"]).first()
        if store is None:
            raise forms.ValidationError("There is no store with this ID.")
        return store


def with_labels(requests: Iterable[AssociationRequest]) -> list[AssociationRequest]:
    """Adds `permissions` to each request: the labels of the requested or granted permissions."""
    found = list(requests)
    for one in found:
        one.permissions = [str(Permission(grant).label) for grant in one.grants]  # type: ignore[attr-defined]
    return found
