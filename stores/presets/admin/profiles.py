from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminFileFieldWidget

from fulfillment.core.admin.read_only import register_history
from fulfillment.core.admin.removal import RemovedByService
from fulfillment.core.errors import DomainError
from printing.press.profiles import PROFILE_BYTES
from stores.presets.models import OutputProfile
from stores.presets.services.profiles import add_profile, remove_profile


class OutputProfileForm(forms.ModelForm):
    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget,
        help_text=f"An ICC output profile (class prtr) for CMYK, at most {PROFILE_BYTES // 1_000_000} MB. "
        "It is embedded in every print file: check its licence.",
    )

    class Meta:
        model = OutputProfile
        fields: list[str] = []

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > PROFILE_BYTES:
            raise forms.ValidationError(f"The file is larger than {PROFILE_BYTES // 1_000_000} MB.")
        try:
            # The service checks and saves the file.
            self.instance = add_profile(file_name=file.name, content=file.read())
        except DomainError as error:
            raise forms.ValidationError(error.message) from error
        return file


@admin.register(OutputProfile)
class OutputProfileAdmin(RemovedByService):
    harmless_pages = ("add", "change", "delete")
    forbidden = ("change",)
    form = OutputProfileForm
    list_display = ["description", "file_name", "size", "created"]
    search_fields = ["description", "file_name"]
    search_help_text = "Profile or file"
    empty_help = "ISO Coated v2 300 % comes with the service. Add the ICC profile of another paper or press."

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("content")

    def save_model(
        self, request: HttpRequest, instance: OutputProfile, form: forms.ModelForm, change: bool
    ) -> None:
        """The form's service call has saved it."""

    def get_fields(self, request: HttpRequest, profile: OutputProfile | None = None) -> Any:
        return ["file"] if profile is None else ["description", "file_name", "size", "sha256", "created"]

    def remove(self, record: OutputProfile) -> None:
        remove_profile(profile=record)


register_history(
    OutputProfile,
    "description",
    "file_name",
    search=["description", "file_name"],
    search_help="Profile or file",
)
