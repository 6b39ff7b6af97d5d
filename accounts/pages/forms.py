"""The fields people fill in to sign up, sign in, reset a password, or change what the profile shows."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, cast
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, SetPasswordForm
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from accounts.names import HELP, MAX_NAME_LENGTH, PASSWORD_HELP
from accounts.services.users import POINTERS
from fulfillment.core.errors import DomainError, faults_at_fields

# The longest old name, "@" and the longest domain.
MAX_SIGN_IN_NAME_LENGTH = 150 + 1 + 253
REGIONS = (
    "Africa/",
    "America/",
    "Antarctica/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
)

# The API's names of a user's members, and the form fields.
USER_FIELDS = {pointer.removeprefix("/"): column for column, pointer in POINTERS.items()} | {
    "Password": "password"
}
NO_MATCH = _(
    "This username and password do not match an account. Passwords are case-sensitive. You can use an e-mail "
    "address only if it is confirmed and belongs to one account. Otherwise use your username; the mail for a new "
    "password shows it."
)


@cache
def time_zones() -> frozenset[str]:
    """All time zones, cached, because listing them reads about 600 files."""
    return frozenset(available_timezones())


@cache
def zone_choices() -> list[tuple[str, str]]:
    """Time zones named by place, and UTC."""
    names = ["UTC", *(name for name in time_zones() if name.startswith(REGIONS))]
    return [(name, name.replace("_", " ")) for name in sorted(names)]


class LongSelect(forms.Select):
    """A fast select: Django's renders a template for each option."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        options = format_html_join(
            "",
            "<option{}>{}</option>",
            (
                (flatatt({"value": option, "selected": option == value}), label)
                for option, label in self.choices
            ),
        )
        attributes = flatatt(self.build_attrs(self.attrs, {**(attrs or {}), "name": name}))
        return format_html("<select{}>{}</select>", attributes, options)


class BrowserZoneField(forms.CharField):
    """The time zone of the browser, filled in by a script; UTC without it."""

    def __init__(self) -> None:
        super().__init__(required=False, widget=forms.HiddenInput)

    def clean(self, value: Any) -> str:
        return name if (name := super().clean(value)) in time_zones() else "UTC"


def _exact_input(autocomplete: str) -> forms.TextInput:
    """The first input of its form, which no keyboard corrects."""
    exact = {"autocapitalize": "none", "spellcheck": "false", "autofocus": True}
    return forms.TextInput(attrs={"autocomplete": autocomplete, **exact})


def _email_field(label: Any, **attributes: bool) -> forms.EmailField:
    widget = forms.EmailInput(attrs={"autocomplete": "email", **attributes})
    return forms.EmailField(label=label, max_length=254, widget=widget)


class SignInForm(AuthenticationForm):
    time_zone = BrowserZoneField()
    username = forms.CharField(
        label=_("Username"),
        max_length=MAX_SIGN_IN_NAME_LENGTH,
        widget=_exact_input("username"),
    )

    error_messages = {
        "invalid_login": NO_MATCH,
        "inactive": NO_MATCH,
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The base class allows the length of a bare username only.
        cast("forms.CharField", self.fields["username"]).max_length = MAX_SIGN_IN_NAME_LENGTH
        self.fields["username"].widget.attrs["maxlength"] = MAX_SIGN_IN_NAME_LENGTH
        self.fields["username"].help_text = _(
            "Your username, such as jane.doe or jane.doe@%(default_tenant_domain)s, or your "
            "confirmed e-mail address. With another domain, write it in full."
        ) % {"default_tenant_domain": settings.DEFAULT_TENANT_DOMAIN}


class SignUpForm(forms.Form):
    username = forms.CharField(
        label=_("Username"),
        max_length=MAX_NAME_LENGTH,
        widget=_exact_input("username"),
        help_text=HELP,
    )
    email = _email_field(_("E-mail"))
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=1024,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=PASSWORD_HELP,
    )
    time_zone = BrowserZoneField()


class NewPasswordForm(SetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_HELP


class ForgottenPasswordForm(forms.Form):
    email = _email_field(_("E-mail"), autofocus=True)


class ProfileForm(forms.Form):
    first_name = forms.CharField(
        label=_("First name"),
        max_length=150,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "given-name"}),
    )
    last_name = forms.CharField(
        label=_("Last name"),
        max_length=150,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "family-name"}),
    )
    phone = forms.CharField(
        label=_("Phone"),
        max_length=50,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "tel", "type": "tel"}),
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        widget=LongSelect,
        help_text=_("Pages show times in this zone. The API always uses UTC."),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("The browser's language")), *settings.LANGUAGES],
        help_text=_("For pages, and for mails to you. The API always uses English."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Keeps a zone stored under another name, such as US/Eastern, as a choice.
        own = str(self.initial.get("time_zone") or "UTC")
        other_choices = [] if own in dict(zone_choices()) else [(own, own)]
        cast("forms.ChoiceField", self.fields["time_zone"]).choices = [*other_choices, *zone_choices()]


class EmailForm(forms.Form):
    email = _email_field(_("New e-mail address"))


class CodeForm(forms.Form):
    """A code of the authenticator app or, at the sign-in, a longer recovery code."""

    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        widget=_exact_input("one-time-code"),
    )


class ConfirmationForm(forms.Form):
    """The password or, with two-factor authentication, a code."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        max_length=1024,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )

    def __init__(self, user: Any, *args: Any) -> None:
        super().__init__(*args)
        if user.two_factor_since is not None:
            self.fields |= CodeForm().fields
            self.fields["code"].label = _("Or a code from your authenticator app")
            del self.fields["code"].widget.attrs["autofocus"]
            name, other_name = ("code", "password") if self.data.get("code") else ("password", "code")
            self.fields[name].required, self.fields[other_name].required = True, False


@contextmanager
def faults_shown(form: forms.Form, fields: Mapping[str, str]) -> Iterator[None]:
    """Shows the refusal of a service in the form, as `show_faults`; the rest of the block is skipped."""
    try:
        yield
    except DomainError as error:
        show_faults(form, error, fields)


def show_faults(form: forms.Form, error: DomainError, fields: Mapping[str, str]) -> None:
    """Shows the faults of a service at the form fields; `fields` maps the API's names to them."""
    placed, general = faults_at_fields(error, {f"/{name}" if name else "": of for name, of in fields.items()})
    for name, messages in placed.items():
        form.add_error(name, messages)
    if general:
        form.add_error(None, general)
