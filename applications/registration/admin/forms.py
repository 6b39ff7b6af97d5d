"""The form of an application in the console."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from applications.registration.models import Application
from applications.registration.services.applications import (
    NAMES,
    reply_url_faults,
)
from applications.registration.services.icons import ALLOWED, MAX_ICON_BYTES, check_icon
from fulfillment.core.errors import DomainError
from printing.text import is_blank


class ApplicationForm(forms.ModelForm):
    reply_urls = forms.CharField(
        label=gettext_lazy("Redirect URIs"),
        required=False,
        widget=UnfoldAdminTextareaWidget,
        help_text=gettext_lazy("One per line: https, or http on localhost."),
    )
    for_tests = forms.BooleanField(
        label=gettext_lazy("Test application"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=gettext_lazy(
            "Its orders are never produced. Chosen at registration; it cannot be changed later."
        ),
    )
    new_icon = forms.FileField(required=False, widget=UnfoldAdminFileFieldWidget, help_text=ALLOWED)

    class Meta:
        model = Application
        fields = [*NAMES, "is_first_party"]
        labels = {
            "application_url": "Application URL",
            "support_url": "Support URL",
            "support_email": "Support e-mail",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reply_urls"].initial = "\n".join(self.instance.reply_urls)
        self.fields["name"].required = True

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        is_test = self.instance.is_test or values.get("for_tests")
        if is_test and values.get("is_first_party"):
            message = "A first-party application cannot be a test application."
            self.add_error("is_first_party", message)
        return values

    def clean_reply_urls(self) -> list[str]:
        urls = self.cleaned_data["reply_urls"].split()
        if faults := reply_url_faults(urls):
            raise forms.ValidationError([fault.message for fault in faults])
        return urls

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if is_blank(name):
            raise forms.ValidationError(_("An application needs a name."))
        return name

    def clean_new_icon(self) -> bytes:
        file = self.cleaned_data["new_icon"]
        content: bytes = file.read(MAX_ICON_BYTES + 1) if file else b""
        try:
            if file:
                check_icon(content=content)
        except DomainError as error:
            raise forms.ValidationError(error.message) from error
        return content
