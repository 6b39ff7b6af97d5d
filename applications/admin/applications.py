from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.admin import ModelAdmin, TabularInline
from unfold.widgets import UnfoldAdminTextareaWidget

from accounts.callers import Caller
from applications.models import Application, ApplicationKey
from applications.selectors.records import icon_url
from applications.services.applications import NAMES, change_application, create_application
from applications.services.authorizations import end_tokens_of_application
from applications.services.keys import add_key
from applications.services.reply_urls import reply_url_faults
from fulfillment.errors import DomainError


class ApplicationForm(forms.ModelForm):
    reply_urls = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget,
        help_text="One address a line: https, or http on loopback.",
    )

    class Meta:
        model = Application
        fields = [*NAMES, "is_first_party"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reply_urls"].initial = "\n".join(self.instance.reply_urls)

    def clean_reply_urls(self) -> list[str]:
        urls = self.cleaned_data["reply_urls"].split()
        if faults := reply_url_faults(urls):
            raise forms.ValidationError([fault.message for fault in faults])
        return urls

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if not name:
            raise forms.ValidationError("An application needs a name.")
        return name


class KeyInline(TabularInline):
    """Values are never shown here: who may write the application sees them on its own page."""

    model = ApplicationKey
    fields = ["id", "start_date", "end_date", "created"]
    readonly_fields = fields
    extra = 0
    can_delete = True

    def has_add_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False


admin.site.unregister(Application)


@admin.register(Application)
class ApplicationAdmin(ModelAdmin):
    form = ApplicationForm
    list_display = ["name", "client_id", "user", "is_enabled", "client_type", "is_first_party", "created"]
    list_filter = ["is_enabled", "is_first_party", "client_type", "implicit_flow_allowed"]
    list_select_related = ["user"]
    search_fields = ["name", "client_id", "user__username"]
    readonly_fields = ["client_id", "client_type", "user", "icon_preview", "created", "updated"]
    inlines = [KeyInline]
    actions = ["add_key_for_a_year", "end_tokens"]
    fieldsets = [
        (None, {"fields": ["name", "description", "application_url", "icon_preview"]}),
        (
            "OAuth",
            {"fields": ["client_id", "client_type", "reply_urls", "implicit_flow_allowed", "is_first_party"]},
        ),
        ("Support", {"fields": ["support_url", "support_phone", "support_email"]}),
        ("State", {"fields": ["is_enabled", "user", "created", "updated"]}),
    ]

    @admin.display(description="icon")
    def icon_preview(self, application: Application) -> str:
        icon = getattr(application, "icon", None)
        if icon is None:
            return "none"
        return format_html('<img src="{}" width="72" height="72" alt="Icon">', icon_url(icon.sha256))

    @admin.action(description="Add a key for a year", permissions=["change"])
    def add_key_for_a_year(self, request: HttpRequest, chosen: QuerySet) -> None:
        for application in chosen:
            try:
                add_key(application=application)
                messages.success(request, f"{application}: key added; its owner sees the value on its page.")
            except DomainError as error:
                messages.error(request, f"{application}: {error.message}")

    @admin.action(description="End all tokens and sign-ins", permissions=["change"])
    def end_tokens(self, request: HttpRequest, chosen: QuerySet) -> None:
        for application in chosen:
            end_tokens_of_application(application=application)
            messages.success(request, f"{application}: every token and code is ended.")

    def save_model(
        self, request: HttpRequest, instance: Application, form: forms.ModelForm, change: bool
    ) -> None:
        values = {
            name: form.cleaned_data[column] for column, name in NAMES.items() if column in form.cleaned_data
        }
        values["ReplyUrls"] = form.cleaned_data["reply_urls"]
        if change:
            saved = change_application(application=Application.objects.get(pk=instance.pk), values=values)
        else:
            saved = create_application(caller=Caller.on_pages(request.user), values=values)
        Application.objects.filter(pk=saved.pk).update(is_first_party=form.cleaned_data["is_first_party"])
        instance.pk = saved.pk
        instance.refresh_from_db()

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        """An application is disabled: its orders and its history stay."""
        return False

    def get_view_on_site_url(self, instance: Any = None) -> None:
        return None
