from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.widgets import UnfoldAdminFileFieldWidget

from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.errors import DomainError
from stores.presets.models import OutputProfile
from stores.presets.services.profiles import add_profile, remove_profile
from stores.press.profiles import PROFILE_BYTES


class OutputProfileForm(forms.ModelForm):
    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget,
        help_text=f"An ICC output profile (class prtr) for CMYK, at most {PROFILE_BYTES // 1_000_000} MB. "
        "It goes into every print file: mind its licence.",
    )

    class Meta:
        model = OutputProfile
        fields: list[str] = []

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > PROFILE_BYTES:
            raise forms.ValidationError(f"A profile has at most {PROFILE_BYTES:,} bytes.")
        try:
            # The service checks and saves the file.
            self.instance = add_profile(file_name=file.name, content=file.read())
        except DomainError as error:
            raise forms.ValidationError(error.message) from error
        return file


@admin.register(OutputProfile)
class OutputProfileAdmin(ConsoleAdmin):
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

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, instance: OutputProfile) -> None:
        try:
            remove_profile(profile=instance)
        except DomainError as error:
            messages.error(request, error.message)

    def response_delete(self, request: HttpRequest, display: str, object_id: Any) -> HttpResponse:
        if OutputProfile.objects.filter(pk=object_id).exists():
            return HttpResponseRedirect(reverse("admin:stores_outputprofile_changelist"))
        return super().response_delete(request, display, object_id)

    def delete_queryset(self, request: HttpRequest, profiles: Any) -> None:
        for profile in profiles:
            self.delete_model(request, profile)
