from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST
from unfold.decorators import display

from fulfillment.core.admin.base import ConsoleAdmin, OwnPage
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.admin.read_only import register_history
from fulfillment.core.page_messages import errors_as_messages
from production.adapters.registry import adapter_kinds
from production.providers.admin.forms import provider_form, setting_names
from production.providers.models import Provider
from production.providers.selectors.providers import is_down, postback_url
from production.providers.services.providers import check_provider, rotate_postback_secret, save_provider

GANG_PREFIX = "setting_gang_"
OWN = ("name", "code", "is_enabled", "daily_capacity")


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

    @display(description="state", label={"Working": "success", "Failing": "danger", "Disabled": "default"})
    def health(self, provider: Provider) -> str:
        if not provider.is_enabled:
            return "Disabled"
        return "Failing" if is_down(provider) else "Working"

    def get_form(
        self, request: HttpRequest, obj: Provider | None = None, change: bool = False, **options: Any
    ) -> Any:
        options["form"] = provider_form(self._kind(request, obj))
        options["fields"] = list(OWN)
        return super().get_form(request, obj, change, **options)

    def get_fieldsets(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        kind = self._kind(request, obj)
        names = setting_names(kind)
        gang = [name for name in names if name.startswith(GANG_PREFIX)]
        parts = [
            (None, {"fields": list(OWN)}),
            (adapter_kinds()[kind].label, {"fields": [name for name in names if name not in gang]}),
        ]
        return [*parts, ("Gang sheets", {"fields": gang})] if gang else parts

    def _kind(self, request: HttpRequest, provider: Provider | None) -> str:
        kind = provider.adapter if provider else request.GET.get("adapter", "")
        return kind if kind in adapter_kinds() else "folder"

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The first step chooses the adapter, because the form depends on it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method == "GET" and request.GET.get("adapter") not in adapter_kinds():
            choices = [(name, kind.label, kind.purpose) for name, kind in adapter_kinds().items()]
            context = {
                **self.page_context(request, "Add provider"),
                "choices": choices,
            }
            return TemplateResponse(request, "admin/production/choose_adapter.html", context)
        answer: HttpResponse = super().add_view(request, form_url, extra_context)
        return answer

    def save_model(self, request: HttpRequest, provider: Provider, form: Any, change: bool) -> None:
        saved = save_provider(values=form.values, provider=provider if change else None)
        provider.pk = saved.pk
        provider.refresh_from_db()

    def record_context(self, request: HttpRequest, provider: Provider) -> dict[str, Any]:
        return {
            "show_save_and_add_another": False,
            "provider": provider,
            "is_down": is_down(provider),
            "postback": postback_url(provider),
        }

    def own_pages(self) -> list[OwnPage]:
        return [
            ("<int:provider_id>/test", require_POST(self.test_view), "test"),
            ("<int:provider_id>/rotate", require_POST(self.rotate_view), "rotate"),
        ]

    def test_view(self, request: HttpRequest, provider_id: int) -> HttpResponse:
        provider = self._provider(request, provider_id)
        return self._with(request, provider, lambda: check_provider(provider=provider))

    def rotate_view(self, request: HttpRequest, provider_id: int) -> HttpResponse:
        provider = self._provider(request, provider_id)
        question = f"Create a new report address for {provider}? The old address stops working immediately."

        def rotate() -> str:
            rotate_postback_secret(provider=provider)
            return "New report address created. Enter it at the provider."

        page = confirmation_page(
            self, request, question=question, button="Create new address", back=_address(provider)
        )
        return page or self._with(request, provider, rotate)

    def _provider(self, request: HttpRequest, provider_id: int) -> Provider:
        provider: Provider = get_object_or_404(self.get_queryset(request), pk=provider_id)
        if not self.has_access(request, "change", provider):
            raise PermissionDenied
        return provider

    def _with(self, request: HttpRequest, provider: Provider, service: Callable[[], str]) -> HttpResponse:
        with errors_as_messages(request):
            messages.success(request, service())
        return HttpResponseRedirect(_address(provider))


def _address(provider: Provider) -> str:
    return reverse("admin:production_provider_change", args=[provider.pk])


register_history(Provider, "code", "name", "is_enabled", search=["=code"], search_help="Exact code")
