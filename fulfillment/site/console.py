"""The admin site: access, start page and time zone."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.admin.apps import AdminConfig
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from unfold.sites import UnfoldAdminSite

from fulfillment.core.http.dangerous import harmless
from fulfillment.core.locales import zone_named
from fulfillment.core.plugins import offered_values


class AutocompleteView(AutocompleteJsonView):
    model_admin: Any

    def process_request(self, request: HttpRequest) -> tuple[Any, ...]:
        requested: tuple[Any, ...] = super().process_request(request)
        # No form has a field for a relation from the other side, and Django fails on it.
        if not requested[2].concrete:
            raise PermissionDenied
        return requested

    def serialize_result(self, record: Any, key_name: str) -> dict[str, str]:
        return {"id": str(getattr(record, key_name)), "text": self.model_admin.disambiguated_label(record)}


class ConsoleSite(UnfoldAdminSite):
    """Open to operators and to staff of stores. One sign-in for everything: the portal's."""

    def has_permission(self, request: HttpRequest) -> bool:
        return any(may_enter(request) for may_enter in offered_values("console", "may_enter"))

    def admin_view(self, view: Callable[..., HttpResponseBase], cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        def in_zone_of_user(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            zone = zone_named(getattr(request.user, "time_zone", settings.TIME_ZONE))
            with timezone.override(zone):
                response: HttpResponseBase = inner(request, *args, **kwargs)
                # Rendered here, while the time zone is active.
                return response.render() if isinstance(response, TemplateResponse) else response

        return update_wrapper(in_zone_of_user, view)

    def get_urls(self) -> list[Any]:
        """Removes Django's "view on site" URL, because records have no public page."""
        # They need the models, which come later.
        from fulfillment.site.audit_log import show_audit_log  # noqa: PLC0415
        from fulfillment.site.development import show_components  # noqa: PLC0415
        from fulfillment.site.navigation import show_system  # noqa: PLC0415

        def with_frame(show: Callable[..., TemplateResponse]) -> Callable[..., HttpResponseBase]:
            return update_wrapper(lambda request: show(request, self.each_context(request)), show)

        own = [
            path("audit/", self.admin_view(with_frame(show_audit_log)), name="audit_log"),
            path("components/", self.admin_view(show_components), name="components"),
            path("system/", self.admin_view(with_frame(show_system)), name="system"),
        ]
        patterns = [url for url in super().get_urls() if getattr(url, "name", "") != "view_on_site"]
        for pattern in (*own, *patterns):
            if isinstance(pattern, URLPattern):
                guard = harmless if pattern.name == "logout" else require_safe
                pattern.callback = guard(pattern.callback)
        return [*own, *patterns]

    def get_tabs_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        from fulfillment.site.navigation import tabs_for  # noqa: PLC0415 - needs the models, which come later

        return tabs_for(request)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Lazy, because few pages show it; the menu comes from `navigation`."""
        return SimpleLazyObject(partial(super().get_app_list, request, app_label))

    def _build_app_dict(self, request: HttpRequest, label: str | None = None) -> Any:
        """Names each model as its admin does."""
        app_by_label = super()._build_app_dict(request, label)
        for app in app_by_label.values():
            for entry in app["models"]:
                entry["name"] = getattr(self._registry[entry["model"]], "plural_name", "") or entry["name"]
        return app_by_label

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from fulfillment.site.attention import attention_card  # noqa: PLC0415 - needs the models, which come later

        cards = [
            card for cards_of in offered_values("console", "dashboard_cards") for card in cards_of(request)
        ]
        cards.append(attention_card(request))
        cards.sort(key=lambda card: card.position)
        return super().index(request, {"title": _("Start"), "cards": cards, **(extra_context or {})})

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        from fulfillment.site.search import search_page  # noqa: PLC0415 - as above

        return search_page(request, {**self.each_context(request), **(extra_context or {})})

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:
        return AutocompleteView.as_view(admin_site=self)(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.user.is_authenticated and not self.has_permission(request):
            raise PermissionDenied(_("The console is for operators and for staff of stores."))
        following = request.GET.get("next", "")
        inside = following if following.startswith("/admin/") else "/admin/"
        return HttpResponseRedirect(f"{settings.LOGIN_URL}?{urlencode({'next': inside})}")

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("/accounts/password-change/")


class ConsoleConfig(AdminConfig):
    default_site = "fulfillment.site.console.ConsoleSite"
