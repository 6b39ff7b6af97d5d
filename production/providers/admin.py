"""Print providers; their form has the settings that the adapter declares."""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from fulfillment.core.admin.base import ConsoleAdmin, ExtraPage
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.errors import DomainError, Invalid
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated
from production.adapters.registry import adapter_kind, adapter_kinds
from production.providers.models import Provider
from production.providers.selectors import is_down, postback_url, readable_secrets
from production.providers.services import (
    ProviderValues,
    check_provider,
    check_settings,
    rotate_postback_secret,
    save_provider,
)
from production.settings_form import LongText

PREFIX = "setting_"
HEALTH_TONES = {"Working": "success", "Not tried": "default", "Failing": "danger", "Disabled": "default"}
WIDGETS: Sequence[tuple[type[forms.Field], Callable[[], forms.Widget]]] = (
    (forms.BooleanField, UnfoldBooleanSwitchWidget),
    (forms.ChoiceField, UnfoldAdminSelectWidget),
    (forms.FloatField, UnfoldAdminDecimalFieldWidget),
    (forms.IntegerField, UnfoldAdminIntegerFieldWidget),
    (LongText, lambda: UnfoldAdminTextareaWidget(attrs={"rows": 4})),
    (forms.CharField, UnfoldAdminTextInputWidget),
)
GANG_PREFIX = "setting_gang_"
OWN = ("name", "code", "is_enabled", "daily_capacity")


class ProviderForm(forms.ModelForm):
    """`adapter_kind` is set by `provider_form`. The service checks the settings."""

    adapter_kind = ""

    class Meta:
        model = Provider
        fields = ["name", "code", "is_enabled", "daily_capacity"]
        help_texts = {
            "code": gettext_lazy(
                "A short name for addresses and filters: 1 to 40 lowercase letters, digits and hyphens."
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        is_stored = self.instance.pk is not None
        secrets = readable_secrets(self.instance if is_stored else None)
        secret_names = adapter_kind(self.adapter_kind).settings.secrets
        for name, field in self.fields.items():
            setting = name.removeprefix(PREFIX)
            if name == setting:
                continue
            field.label, field.help_text = translated(field.label), translated(field.help_text)
            if setting not in secret_names:
                field.initial = _shorten_number(self.instance.settings.get(setting, field.initial))
            elif setting in secrets:
                field.help_text = " ".join(
                    [field.help_text, _("A value is stored; leave empty to keep it.")]
                ).strip()
                field.required = False

    @property
    def values(self) -> ProviderValues:
        clean = self.cleaned_data
        settings = {
            name.removeprefix(PREFIX): value for name, value in clean.items() if name.startswith(PREFIX)
        }
        return ProviderValues(
            code=clean.get("code", ""),
            name=clean.get("name", ""),
            adapter=self.adapter_kind,
            settings={name: value for name, value in settings.items() if value is not None},
            is_enabled=clean.get("is_enabled", False),
            daily_capacity=clean.get("daily_capacity"),
        )

    def clean(self) -> dict[str, Any]:
        """Settings are checked beside wrong fields as well, so that all faults are shown at once."""
        cleaned = super().clean() or self.cleaned_data
        faulty = set(self.errors)
        try:
            check_settings(values=self.values, provider=self.instance if self.instance.pk else None)
        except Invalid as error:
            for fault in error.faults:
                name = PREFIX + fault.pointer.removeprefix("/settings/")
                if name not in faulty:
                    self.add_error(name if name in self.fields else None, translated(fault.message))
        except DomainError as error:
            self.add_error(None, translated(error.message))
        return cleaned


def _shorten_number(value: Any) -> Any:
    """450, and not 450.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def provider_form(kind: str) -> type[ProviderForm]:
    """A form class with a field for each setting of this adapter."""
    form = adapter_kind(kind).settings
    # An instance has the fields in their order.
    fields = {
        PREFIX + name: _prepare_field(field, is_secret=name in form.secrets)
        for name, field in form({}).fields.items()
    }
    return type("ProviderSettingsForm", (ProviderForm,), {"adapter_kind": kind, **fields})


def setting_names(kind: str) -> list[str]:
    return [PREFIX + name for name in adapter_kind(kind).settings({}).fields]


def _prepare_field(field: forms.Field, *, is_secret: bool) -> forms.Field:
    """The field with the console's widget; one with a default may stay empty."""
    if is_secret and not isinstance(field, LongText):
        field.widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})
    else:
        field.widget = next(build for kind, build in WIDGETS if isinstance(field, kind))()
    if isinstance(field, forms.ChoiceField):
        field.widget.choices = field.choices
    field.widget.attrs.update(field.widget_attrs(field.widget))
    field.required = field.required and (field.initial is None or isinstance(field, forms.ChoiceField))
    field.initial = _shorten_number(field.initial)
    return field


@admin.register(Provider)
class ProviderAdmin(ConsoleAdmin):
    """Every change goes through the service, which checks settings by the adapter's declaration."""

    # Providers are disabled, not deleted, because jobs refer to them.
    forbidden = ("delete",)
    dangerous_pages = {
        "add": "Add a provider",
        "change": "Change a provider",
        "rotate": "Replace the report address of a provider",
    }
    harmless_pages = ("test",)
    list_display = ["name", "shown_adapter", "health", "daily_capacity", "last_success"]
    plural_name = "Print providers"
    search_fields = ["name", "code"]
    search_help_text = "Name or code"
    empty_help = (
        "A provider is a print shop or your own press. Add one, then a routing rule that sends items to it."
    )
    change_form_outer_before_template = "admin/production/provider_before.html"
    change_form_outer_after_template = "admin/production/provider_after.html"
    ordering = ["name"]

    @admin.display(description="adapter")
    def shown_adapter(self, provider: Provider) -> str:
        return provider.adapter_label

    @display(description="state", label=HEALTH_TONES)
    def health(self, provider: Provider) -> str:
        if not provider.is_enabled:
            return "Disabled"
        if is_down(provider):
            return "Failing"
        return "Working" if provider.last_success else "Not tried"

    def get_form(
        self, request: HttpRequest, obj: Provider | None = None, change: bool = False, **options: Any
    ) -> Any:
        options["form"] = provider_form(self._find_kind(request, obj))
        options["fields"] = list(OWN)
        return super().get_form(request, obj, change, **options)

    def get_fieldsets(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        kind = self._find_kind(request, obj)
        names = setting_names(kind)
        gang_names = [name for name in names if name.startswith(GANG_PREFIX)]
        parts = [
            (None, {"fields": list(OWN)}),
            (adapter_kinds()[kind].label, {"fields": [name for name in names if name not in gang_names]}),
        ]
        return [*parts, ("Gang sheets", {"fields": gang_names})] if gang_names else parts

    def _find_kind(self, request: HttpRequest, provider: Provider | None) -> str:
        kind = provider.adapter if provider else request.GET.get("adapter", "")
        return kind if kind in adapter_kinds() else "folder"

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The first step chooses the adapter, because the form depends on it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method == "GET" and request.GET.get("adapter") not in adapter_kinds():
            choices = [(name, kind.label, kind.purpose) for name, kind in adapter_kinds().items()]
            context = {**self.page_context(request, _("Add provider")), "choices": choices}
            return TemplateResponse(request, "admin/production/choose_adapter.html", context)
        response: HttpResponse = super().add_view(request, form_url, extra_context)
        return response

    def save_model(self, request: HttpRequest, provider: Provider, form: Any, change: bool) -> None:
        record = save_provider(values=form.values, provider=provider if change else None)
        provider.pk = record.pk
        provider.refresh_from_db()

    def record_context(self, request: HttpRequest, provider: Provider) -> dict[str, Any]:
        return {
            "show_save_and_add_another": False,
            "provider": provider,
            "is_down": is_down(provider),
            "postback": postback_url(provider),
        }

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<int:provider_id>/test", require_POST(self.test_view), "test"),
            ("<int:provider_id>/rotate", require_POST(self.rotate_view), "rotate"),
        ]

    def test_view(self, request: HttpRequest, provider_id: int) -> HttpResponse:
        provider = self.record_for(request, provider_id)
        with errors_as_messages(request):
            messages.success(request, check_provider(provider=provider))
        return HttpResponseRedirect(self.address_of(provider))

    def rotate_view(self, request: HttpRequest, provider_id: int) -> HttpResponse:
        provider = self.record_for(request, provider_id)
        question = _(
            "Create a new report address for %(provider)s? The old address stops working immediately."
        ) % {"provider": provider}

        page = confirmation_page(
            self, request, question=question, button=_("Create new address"), back=self.address_of(provider)
        )
        message = _("New report address created. Enter it at the provider.")
        return page or self.call_service(
            request, provider, lambda: rotate_postback_secret(provider=provider), message
        )
