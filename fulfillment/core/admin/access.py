"""Access to the pages of an admin: who sees which records, and which pages require a confirmation."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe
from unfold.admin import ModelAdmin

from fulfillment.core.http.dangerous import UNDECLARED, dangerous, get_declaration, harmless


class AccessAdmin(ModelAdmin):
    """Gives active operators access to every record. Subclasses give other users access: they override `has_access`
    and `scope_queryset`."""

    # The actions that no user may take in the console: "add", "change" or "delete".
    forbidden: Sequence[str] = ()
    # The effect of each dangerous page by its name, such as "delete" or the name of an extra page. Actions of the list
    # are marked themselves (`fulfillment.core.http.dangerous`).
    dangerous_pages: Mapping[str, str] = {}
    # The names of pages whose POST needs no confirmation. A page that is in neither is dangerous.
    harmless_pages: Collection[str] = ()

    @property
    def urls(self) -> list[Any]:
        """Guards every page of the admin: users who may not view the list get none of them."""
        patterns = self.get_urls()
        prefix = f"{self.opts.app_label}_{self.opts.model_name}_"
        for pattern in patterns:
            page = (pattern.name or "").removeprefix(prefix)
            pattern.callback = self._declare(page, self._require_access(pattern.callback))
        return patterns

    def _declare(self, page: str, view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        if page in self.dangerous_pages:
            return dangerous(self.dangerous_pages[page])(view)
        if page == "changelist":
            return dangerous(self._effect_of_action)(view)
        if page in {"", "history"}:
            return require_safe(view)
        return harmless(view) if page in (*self.harmless_pages, *self.forbidden) else view

    def _effect_of_action(self, request: HttpRequest) -> str:
        """Looks at every action named: Django chooses one of them by another field."""
        effects = (self.effect_of_action(name) for name in request.POST.getlist("action") if name)
        return next(filter(None, effects), "")

    def effect_of_action(self, name: str) -> str:
        if name != "delete_selected":
            return str((get_declaration(getattr(self, name, None)) or UNDECLARED).effect)
        return "" if "delete" in self.harmless_pages else self.dangerous_pages.get("delete", "Delete")

    def _require_access(self, view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            # The view itself redirects users without any access to the sign-in.
            if self.admin_site.has_permission(request) and not self.has_module_permission(request):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return wrapper

    def has_access(self, request: HttpRequest, action: str, record: Any = None) -> bool:
        """Whether the signed-in user may "view", "add", "change" or "delete" this record, or any record."""
        return bool(getattr(request.user, "is_operator", False) and request.user.is_active)

    def scope_queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        return records if self.has_access(request, "view") else records.none()

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return self.scope_queryset(request, super().get_queryset(request))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_access(request, "view")

    # Django's autocomplete view calls it with `obj=`.
    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_access(request, "view", obj)

    def has_add_permission(self, request: HttpRequest, *instance: Any) -> bool:
        return "add" not in self.forbidden and self.has_access(request, "add")

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return "change" not in self.forbidden and self.has_access(request, "change", instance)

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return "delete" not in self.forbidden and self.has_access(request, "delete", instance)

    def record_for(self, request: HttpRequest, key: Any, action: str = "change") -> Any:
        """The record of an own page: 404 for users who do not see it, 403 for those who may not do this to it."""
        record = get_object_or_404(self.get_queryset(request), pk=key)
        if not self.has_access(request, action, record):
            raise PermissionDenied
        return record
