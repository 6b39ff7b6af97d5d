from typing import cast

from django import forms
from django.http import QueryDict
from unfold.widgets import UnfoldAdminTextareaWidget

from accounts.models import AssociationRequest
from accounts.permissions import (
    APPLICATION_GRANTS,
    DEFAULT_APPLICATION_GRANTS,
    DEFAULT_STORE_GRANTS,
    STORE_GRANTS,
    Permission,
)


class GrantsForm(forms.Form):
    """The grants to give to one request: those asked for, or the usual ones, until something else is chosen."""

    grants = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one grant, or deny the request."},
    )

    def __init__(self, data: QueryDict | None = None, *, asked: AssociationRequest) -> None:
        for_store = asked.store_id is not None
        usual = DEFAULT_STORE_GRANTS if for_store else DEFAULT_APPLICATION_GRANTS
        allowed = STORE_GRANTS if for_store else APPLICATION_GRANTS
        initial = {"grants": asked.grants or list(usual)}
        super().__init__(data, prefix=str(asked.pk), initial=initial)
        self.asked = asked
        cast("forms.ChoiceField", self.fields["grants"]).choices = [
            (value, f"{value}: {label}") for value, label in Permission.choices if value in allowed
        ]


class NoteForm(forms.Form):
    note = forms.CharField(
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text="Who asked can read it.",
    )
