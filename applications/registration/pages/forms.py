"""The fields with which owners register and change an application, its keys, icon and owners."""

from datetime import UTC
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from applications.registration.models import Application
from applications.registration.services.applications import FIELDS
from fulfillment.core.db.changes import OptimisticLockMixin

# The API's names of the fields.
APPLICATION_FIELDS = {**FIELDS, "ReplyUrls": "reply_urls"}
KEY_FIELDS = {"StartDate": "start_date", "EndDate": "end_date"}


class LinesField(forms.CharField):
    """A text area whose value is the list of its non-empty lines."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def run_validators(self, value: Any) -> None:
        for line in value:
            super().run_validators(line)


class ApplicationForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=255, help_text=_("People see it when the application requests access.")
    )
    description = forms.CharField(
        label=_("Description"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What it does."),
    )
    application_url = forms.CharField(
        label=_("Website"),
        max_length=2000,
        required=False,
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
    )
    reply_urls = LinesField(
        label=_("Redirect URIs"),
        required=False,
        help_text=_(
            "One per line: where people return after signing in. https, or http on a loopback address; must "
            "match exactly."
        ),
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false", "wrap": "off"}),
    )
    support_url = forms.CharField(
        label=_("Support site"),
        max_length=2000,
        required=False,
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
    )
    support_email = forms.EmailField(label=_("Support e-mail"), max_length=254, required=False)
    support_phone = forms.CharField(
        label=_("Support phone"), max_length=50, required=False, widget=forms.TextInput(attrs={"type": "tel"})
    )
    implicit_flow_allowed = forms.BooleanField(
        label=_("Allow the implicit flow"),
        required=False,
        help_text=_("Only for old browser applications. Authorization code with PKCE is safer."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.IMPLICIT_FLOW_ENABLED:
            del self.fields["implicit_flow_allowed"]

    def values(self) -> dict[str, Any]:
        """The form's values under the API's names."""
        return {
            name: self.cleaned_data[column]
            for name, column in APPLICATION_FIELDS.items()
            if column in self.cleaned_data
        }


class NewApplicationForm(forms.Form):
    """Requires only a name; all other settings follow on the settings page."""

    name = forms.CharField(
        label=_("Name"),
        max_length=255,
        help_text=_("People see it when the application requests access to their account."),
        widget=forms.TextInput(attrs={"autofocus": True}),
    )
    is_test = forms.BooleanField(
        label=_("Test application"),
        required=False,
        help_text=_(
            "For development. Its orders follow the same rules and prices, but nothing is produced. It "
            "always stays a test application. Create another one for real orders."
        ),
    )
    with_key = forms.BooleanField(
        label=_("It runs on a server and can keep a secret"),
        required=False,
        initial=True,
        help_text=_(
            "It gets a key. Clear this for a browser or phone application, which is a public client; you can add "
            "a key later."
        ),
    )

    def values(self) -> dict[str, Any]:
        """The form's values under the API's names."""
        keys: dict[str, Any] = {"Keys": [{}]} if self.cleaned_data["with_key"] else {}
        return {"Name": self.cleaned_data["name"], **keys, "IsTest": self.cleaned_data["is_test"]}


class ChangeApplicationForm(OptimisticLockMixin, ApplicationForm):
    is_enabled = forms.BooleanField(
        label=_("Enabled"),
        required=False,
        help_text=_("A disabled application can neither sign people in nor call the API."),
    )

    def __init__(self, *args: Any, instance: Application, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance = instance
        self.fields["is_enabled"].disabled = instance.is_blocked


class MomentField(forms.DateTimeField):
    """A time in the zone of the user, which is none of the years before 1 and after 9999 in UTC either."""

    def to_python(self, value: Any) -> Any:
        moment = super().to_python(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


class KeyForm(forms.Form):
    start_date = MomentField(label=_("Valid from"), required=False)
    end_date = MomentField(label=_("Valid until"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"})


class IconForm(forms.Form):
    icon = forms.FileField(
        label=_("New icon"),
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/bmp"}),
        help_text=_(
            "PNG, JPEG or BMP of any size: it is cropped and scaled here. Without JavaScript, exactly 215 × 215 "  # noqa: RUF001 - a multiplication sign is meant
            "pixels and smaller than 100 KB."
        ),
    )


class InviteForm(forms.Form):
    email = forms.EmailField(
        label=_("E-mail address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off", "placeholder": "name@example.com"}),
    )


class JoinForm(forms.Form):
    application = forms.CharField(
        label=_("Client ID or application ID"),
        max_length=64,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocapitalize": "none"}),
        help_text=_("Both are on the application's overview page."),
    )
    message = forms.CharField(
        label=_("Message"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Why you need access. Shown to the operators who decide."),
    )
