from django import forms

from accounts.permissions import STORE_GRANTS, Permission
from stores.catalog.models import Store

# The contract's names, and the fields that hold them here.
ASK_FIELDS = {"StoreID": "store", "Grants": "grants", "Message": "message"}


class AskForStoreForm(forms.Form):
    store = forms.CharField(
        label="Store ID",
        max_length=64,
        widget=forms.TextInput(
            attrs={"list": "known-stores", "spellcheck": "false", "autocapitalize": "none"}
        ),
        help_text="The store's people tell you, for example harbor-press.",
    )
    grants = forms.MultipleChoiceField(
        label="What it should be able to do",
        required=False,
        choices=[(name.value, name.label) for name in Permission if name.value in STORE_GRANTS],
        widget=forms.CheckboxSelectMultiple,
    )
    message = forms.CharField(
        label="Message",
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Who you are and what you print. The people who decide read it.",
    )

    def clean_store(self) -> Store:
        store = Store.objects.filter(external_id=self.cleaned_data["store"]).first()
        if store is None:
            raise forms.ValidationError("There is no store with this ID.")
        return store
