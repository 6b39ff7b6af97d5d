"""Applications in the console."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from accounts.admin.access import RoleRows
from accounts.callers import Caller
from applications.registration.admin.keys import KeyInline, KeyPages, KeysFilter
from applications.registration.models import Application
from applications.registration.selectors.applications import icon_url
from applications.registration.services.applications import (
    NAMES,
    change_application,
    create_application,
    reply_url_faults,
)
from applications.registration.services.icons import ALLOWED, MAX_ICON_BYTES, check_icon, set_icon
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.errors import DomainError
from fulfillment.core.recorded_texts import translated
from printing.text import is_blank


class ConsoleApplicationForm(forms.ModelForm):
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
        fields = [*NAMES, "is_blocked", "is_first_party"]
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
            message = _("A first-party application cannot be a test application.")
            self.add_error("is_first_party", message)
        return values

    def clean_reply_urls(self) -> list[str]:
        urls = self.cleaned_data["reply_urls"].split()
        if faults := reply_url_faults(urls):
            raise forms.ValidationError([translated(fault.message) for fault in faults])
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
            raise forms.ValidationError(translated(error.message)) from error
        return content


class ApplicationRoleInline(RoleRows):
    """Shows who may manage the application (with a user), and the stores it is associated with (without one)."""

    fields = ["user", "store", "grant", "created"]
    readonly_fields = ["created"]
    autocomplete_fields = ["user", "store"]
    verbose_name_plural = "users and stores"

    def get_formset(self, request: HttpRequest, obj: Any = None, **options: Any) -> Any:
        return super().get_formset(request, obj, labels={"grant": _("Permission")}, **options)


admin.site.unregister(Application)


class ApplicationAdmin(KeyPages):
    # Applications are disabled, not deleted, because of their orders and history.
    forbidden = ("delete",)
    dangerous_pages = {
        "add": "Add an application",
        "change": "Change an application",
        "add_key": "Add a key",
        "regenerate_key": "Regenerate a key",
    }
    harmless_pages = ("end_key",)
    form = ConsoleApplicationForm
    list_display = [
        "shown_icon",
        "name",
        "client_id",
        "user",
        "is_enabled",
        "client_type",
        "shown_mode",
        "is_first_party",
        "created",
    ]
    list_display_links = ["name"]
    list_filter = [
        "is_enabled",
        "is_blocked",
        "is_test",
        KeysFilter,
        "is_first_party",
        "client_type",
        "implicit_flow_allowed",
    ]
    search_fields = ["name", "client_id", "user__username"]
    search_help_text = "Name, client ID or owner"
    change_form_outer_before_template = "admin/applications/application_before.html"
    readonly_fields = ["client_id", "client_type", "user", "icon_preview", "is_test", "created", "updated"]
    inlines = [KeyInline, ApplicationRoleInline]
    actions = ["add_key_for_a_year"]
    fieldsets = [
        (None, {"fields": ["name", "description", "application_url", "icon_preview", "new_icon"]}),
        (
            "OAuth",
            {
                "fields": [
                    "client_id",
                    "client_type",
                    "reply_urls",
                    "implicit_flow_allowed",
                    "is_first_party",
                    "is_test",
                ]
            },
        ),
        ("Support", {"fields": ["support_url", "support_phone", "support_email"]}),
        ("State", {"fields": ["is_enabled", "is_blocked", "user", "created", "updated"]}),
    ]

    def extra_pages(self) -> list[ExtraPage]:
        keys = "<uuid:application_id>/keys"
        return [
            (f"{keys}/add/", require_POST(self.add_key_view), "add_key"),
            (f"{keys}/<uuid:key_id>/end/", require_POST(self.end_key_view), "end_key"),
            (f"{keys}/<uuid:key_id>/regenerate/", require_POST(self.regenerate_key_view), "regenerate_key"),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        icons = ("icon__image", "icon__central_image")
        return super().get_queryset(request).select_related("user", "icon").defer(*icons)

    def get_fieldsets(self, request: HttpRequest, application: Application | None = None) -> Any:
        """Hides what a new application does not have yet, such as its client ID, owner and dates."""
        fieldsets = super().get_fieldsets(request, application)
        if application is not None:
            return fieldsets
        shown_as = dict.fromkeys([*self.readonly_fields, "is_blocked"]) | {"is_test": "for_tests"}
        return [
            (title, {**options, "fields": [name for n in options["fields"] if (name := shown_as.get(n, n))]})
            for title, options in fieldsets
        ]

    def disambiguated_label(self, application: Application) -> str:
        return f"{application.name} ({application.client_id})"

    @admin.display(description="mode", ordering="is_test")
    def shown_mode(self, application: Application) -> str:
        badge = format_html('<span class="status status-test">{}</span>', _("Test"))
        return badge if application.is_test else _("Live")

    @admin.display(description="icon")
    def icon_preview(self, application: Application) -> str:
        return _show_picture(application, 72) or self.empty_value_display

    @admin.display(description="icon")
    def shown_icon(self, application: Application) -> str:
        return _show_picture(application, 28)

    def save_model(
        self, request: HttpRequest, instance: Application, form: forms.ModelForm, change: bool
    ) -> None:
        values = {
            name: form.cleaned_data[column] for column, name in NAMES.items() if column in form.cleaned_data
        }
        values["ReplyUrls"] = form.cleaned_data["reply_urls"]
        is_first_party = form.cleaned_data["is_first_party"]
        if change:
            is_blocked = form.cleaned_data["is_blocked"]
            saved = change_application(
                application=instance, values=values, is_blocked=is_blocked, is_first_party=is_first_party
            )
        else:
            values["IsTest"] = form.cleaned_data["for_tests"]
            caller = Caller.on_pages(request.user)
            saved = create_application(caller=caller, values=values, is_first_party=is_first_party)
        if form.cleaned_data["new_icon"]:
            set_icon(application=saved, content=form.cleaned_data["new_icon"])
        instance.pk = saved.pk
        instance.refresh_from_db()

    def get_view_on_site_url(self, instance: Any = None) -> None:
        return None


def _show_picture(application: Application, side: int) -> str:
    icon = getattr(application, "icon", None)
    if icon is None:
        return ""
    return format_html('<img src="{0}" width="{1}" height="{1}" alt="">', icon_url(icon.sha256), side)
