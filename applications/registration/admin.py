from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.utils import display_for_label
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from accounts.callers import Caller
from accounts.models import Role
from applications.registration.models import Application, ApplicationKey
from applications.registration.selectors.applications import applications_with_ending_keys
from applications.registration.selectors.records import icon_url
from applications.registration.services.applications import (
    NAMES,
    change_application,
    create_application,
    reply_url_faults,
)
from applications.registration.services.icons import ALLOWED, MAX_ICON_BYTES, check_icon, set_icon
from applications.registration.services.keys import add_key, end_key, regenerate_key
from fulfillment.core.admin.base import ConsoleAdmin, ConsoleInline, OwnPage
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.admin.history import shown_value
from fulfillment.core.admin.read_only import register_history
from fulfillment.core.errors import DomainError
from fulfillment.core.http.dangerous import dangerous
from fulfillment.core.page_messages import errors_as_messages
from printing.text import is_blank


def _badge(text: str, tone: str) -> str:
    return str(display_for_label(text, "", {text: tone}))


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
            message = "An application of this service itself cannot be a test application."
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


class KeysFilter(admin.SimpleListFilter):
    title = "keys"
    parameter_name = "keys"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("ending", _("None after two weeks"))]

    def queryset(self, request: HttpRequest, applications: QuerySet) -> QuerySet:
        if self.value() != "ending":
            return applications
        return applications.filter(pk__in=applications_with_ending_keys().order_by().values("pk"))


class KeyInline(ConsoleInline):
    """Never shows values; users who may change the application see them in the portal."""

    model = ApplicationKey
    fields = ["id", "state", "start_date", "end_date", "created", "means"]
    readonly_fields = fields
    max_num = 0
    can_delete = False

    @admin.display(description="state")
    def state(self, key: ApplicationKey) -> str:
        # Django also renders an empty row.
        now = timezone.now()
        if key.end_date is None:
            return ""
        if key.end_date <= now:
            return _badge(_("ended"), "default")
        return _badge(_("valid"), "success") if key.start_date <= now else _badge(_("not yet"), "info")

    @admin.display(description="")
    def means(self, key: ApplicationKey) -> str:
        """Buttons of the surrounding form, because forms cannot be nested."""
        if key.end_date is None or key.end_date <= timezone.now():
            return ""
        return format_html_join(
            " ",
            '<button class="console-button" formnovalidate formaction="{}">{}</button>',
            (
                (reverse(f"admin:applications_application_{name}", args=[key.application_id, key.pk]), title)
                for name, title in (("end_key", "End …"), ("regenerate_key", "Regenerate …"))
            ),
        )


class RoleInline(ConsoleInline):
    """Who may manage the application (with a user), and the stores it is associated with (without one)."""

    model = Role
    fields = ["user", "store", "grant", "created"]
    readonly_fields = ["created"]
    autocomplete_fields = ["user", "store"]
    per_page = 10
    ordering = ["pk"]
    hide_title = True
    verbose_name_plural = "users and stores"

    def get_formset(self, request: HttpRequest, obj: Any = None, **options: Any) -> Any:
        return super().get_formset(request, obj, labels={"grant": _("Permission")}, **options)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("user", "store", "application")

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        """Grants are added or removed, never changed: a choice in each row would cost a query each."""
        return False


admin.site.unregister(Application)


class ApplicationAdmin(ConsoleAdmin):
    # Applications are disabled, not deleted, because of their orders and history.
    forbidden = ("delete",)
    dangerous_pages = {
        "add": "Add an application",
        "change": "Change an application",
        "add_key": "Add a key",
        "regenerate_key": "Regenerate a key",
    }
    harmless_pages = ("end_key",)
    form = ApplicationForm
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
    help_texts = {
        "is_first_party": "Part of this service: it needs no association with a store, the user's own grants count.",
        "is_test": "Everything created with its credentials is test data. This cannot be changed.",
    }
    inlines = [KeyInline, RoleInline]
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
        ("State", {"fields": ["is_enabled", "user", "created", "updated"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        icons = ("icon__image", "icon__central_image")
        return super().get_queryset(request).select_related("user", "icon").defer(*icons)

    def get_fieldsets(self, request: HttpRequest, application: Application | None = None) -> Any:
        """Hides client ID, owner and dates of a new application: they are set when it is saved."""
        fieldsets = super().get_fieldsets(request, application)
        if application is not None:
            return fieldsets
        made = set(self.readonly_fields) - {"is_test"}
        shown_as = {"is_test": "for_tests"}
        return [
            (title, {**options, "fields": [shown_as.get(n, n) for n in options["fields"] if n not in made]})
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
        return _picture(application, 72) or self.empty_value_display

    @admin.display(description="icon")
    def shown_icon(self, application: Application) -> str:
        return _picture(application, 28)

    @dangerous(gettext_lazy("Add a key"))
    @admin.action(description="Add a one-year key", permissions=["change"])
    def add_key_for_a_year(self, request: HttpRequest, chosen: QuerySet) -> None:
        for application in chosen:
            try:
                add_key(application=application)
                messages.success(
                    request,
                    _("%(application)s: key added; its owner sees the value on its page.")
                    % {"application": application},
                )
            except DomainError as error:
                messages.error(request, f"{application}: {error.message}")

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
            values["IsTest"] = form.cleaned_data["for_tests"]
            saved = create_application(caller=Caller.on_pages(request.user), values=values)
        Application.objects.filter(pk=saved.pk).update(is_first_party=form.cleaned_data["is_first_party"])
        if form.cleaned_data["new_icon"]:
            set_icon(application=saved, content=form.cleaned_data["new_icon"])
        instance.pk = saved.pk
        instance.refresh_from_db()

    def get_view_on_site_url(self, instance: Any = None) -> None:
        return None

    def own_pages(self) -> list[OwnPage]:
        keys = "<uuid:application_id>/keys"
        return [
            (f"{keys}/add/", require_POST(self.add_key_view), "add_key"),
            (f"{keys}/<uuid:key_id>/end/", require_POST(self.end_key_view), "end_key"),
            (f"{keys}/<uuid:key_id>/regenerate/", require_POST(self.regenerate_key_view), "regenerate_key"),
        ]

    def add_key_view(self, request: HttpRequest, application_id: UUID) -> HttpResponse:
        application = self._to_change(request, application_id)
        return self._with_key(
            request, application, lambda: add_key(application=application), _("A key was added.")
        )

    def end_key_view(self, request: HttpRequest, application_id: UUID, key_id: UUID) -> HttpResponse:
        application = self._to_change(request, application_id)
        question = _(
            "End this key of %(application)s? Clients that authenticate with it are refused immediately."
        ) % {"application": application}
        return self._confirmation(request, application, key_id, question, _("End the key")) or self._with_key(
            request,
            application,
            lambda: end_key(application=application, key_id=key_id),
            _("The key is ended."),
        )

    def regenerate_key_view(self, request: HttpRequest, application_id: UUID, key_id: UUID) -> HttpResponse:
        application = self._to_change(request, application_id)
        question = _(
            "Replace this key of %(application)s with a new one? The old key is refused immediately."
        ) % {"application": application}
        return self._confirmation(request, application, key_id, question, _("Regenerate")) or self._with_key(
            request,
            application,
            lambda: regenerate_key(application=application, key_id=key_id),
            _("The key was regenerated."),
        )

    def _confirmation(
        self, request: HttpRequest, application: Application, key_id: UUID, question: str, button: str
    ) -> HttpResponse | None:
        keys = [
            _("%(key)s, valid from %(start)s to %(end)s")
            % {"key": key, "start": shown_value(key.start_date), "end": shown_value(key.end_date)}
            for key in application.keys.filter(pk=key_id)
        ]
        back = _change_address(application)
        return confirmation_page(self, request, question=question, button=button, records=keys, back=back)

    def _to_change(self, request: HttpRequest, application_id: UUID) -> Application:
        application = get_object_or_404(self.get_queryset(request), pk=application_id)
        if not self.has_change_permission(request, application):
            raise PermissionDenied
        return application

    def _with_key(
        self, request: HttpRequest, application: Application, service: Callable[[], object], done: str
    ) -> HttpResponse:
        with errors_as_messages(request):
            service()
            messages.success(
                request, _("%(done)s Its owners see the value on the Keys page.") % {"done": done}
            )
        return HttpResponseRedirect(_change_address(application))


def _change_address(application: Application) -> str:
    return reverse("admin:applications_application_change", args=[application.pk])


def _picture(application: Application, side: int) -> str:
    icon = getattr(application, "icon", None)
    if icon is None:
        return ""
    return format_html('<img src="{0}" width="{1}" height="{1}" alt="">', icon_url(icon.sha256), side)


register_history(
    Application,
    "client_id",
    "name",
    "is_enabled",
    "client_type",
    search=["=client_id", "name"],
    search_help="Exact client ID, or name",
)

register_history(
    ApplicationKey,
    "pgh_obj_id",
    "application_id",
    "start_date",
    "end_date",
    search=["=application__client_id"],
    search_help="Exact client ID",
)
