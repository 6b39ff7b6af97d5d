from typing import Any

from django import forms
from django.contrib import admin
from unfold.widgets import UnfoldBooleanWidget

from accounts.models import Role

UNSAID = "Choose a store or an application, or tick Everywhere."


class RoleForm(forms.ModelForm):
    """A role over everything has its own field, so that a forgotten store does not grant every store."""

    everywhere = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanWidget,
        help_text="The user holds the grant over every store and every application.",
    )

    class Meta:
        model = Role
        fields = ["user", "application", "store", "grant"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = self.instance
        self.fields["everywhere"].initial = bool(role.pk) and not (role.application_id or role.store_id)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        on_one = bool(values.get("application") or values.get("store"))
        # A refused choice has its own error.
        if not on_one and not values.get("everywhere") and not {"application", "store"} & set(self.errors):
            self.add_error("everywhere", UNSAID)
        if on_one and values.get("everywhere"):
            self.add_error("everywhere", "Choose either a store or an application, or Everywhere, not both.")
        return values


class RolePlaces:
    """For read-only roles, where the form's field `everywhere` has no value."""

    @admin.display(boolean=True)
    def everywhere(self, role: Role) -> bool:
        return not (role.application_id or role.store_id)
