"""The forms with which operators decide association requests."""

from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from accounts.models import AssociationRequest
from accounts.permissions import (
    APPLICATION_GRANTS,
    DEFAULT_APPLICATION_GRANTS,
    DEFAULT_STORE_GRANTS,
    GRANT_CHOICES,
    STORE_GRANTS,
)
from accounts.selectors.associations import Applicant


class GrantsForm(forms.Form):
    """The grants for one request: by default the requested ones, else the default ones."""

    grants = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one permission, or decline the request.")},
    )

    # Set by the view.
    applicant: Applicant | None = None

    def __init__(self, data: QueryDict | None = None, *, access_request: AssociationRequest) -> None:
        for_store = access_request.store_id is not None
        usual = DEFAULT_STORE_GRANTS if for_store else DEFAULT_APPLICATION_GRANTS
        allowed = STORE_GRANTS if for_store else APPLICATION_GRANTS
        initial = {"grants": access_request.grants or list(usual)}
        super().__init__(data, prefix=str(access_request.pk), initial=initial)
        self.access_request = access_request
        cast("forms.ChoiceField", self.fields["grants"]).choices = [
            (value, label) for value, label in GRANT_CHOICES if value in allowed
        ]


class NoteForm(forms.Form):
    note = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text=gettext_lazy("The applicant sees this note. Required to decline."),
    )

    def clean_note(self) -> str:
        note: str = self.cleaned_data["note"].strip()
        if "deny" in self.data and not note:
            raise forms.ValidationError(_("Enter a reason: the applicant sees it."), code="required")
        return note
