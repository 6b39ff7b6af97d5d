"""The base class of all admins: access to records, and lists that stay fast on large tables."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, NoReturn

from django.contrib import messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IS_POPUP_VAR, IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from unfold.admin import ModelAdmin

from fulfillment.core.admin.history import FieldChange, Parts, history_page
from fulfillment.core.admin.inlines import NOTHING, AutocompleteMixin, with_help
from fulfillment.core.admin.lists import BoundedPaginator, ConsoleList
from fulfillment.core.admin.names import BadgeMixin, name_admin
from fulfillment.core.admin.search import apply_search
from fulfillment.core.db.changes import OptimisticLockMixin, differs_from_stored
from fulfillment.core.http.dangerous import UNDECLARED, dangerous, declared_by, harmless
from fulfillment.core.page_messages import errors_as_messages

# An action works within one request; more records would exceed its time limit.
MAX_AT_ONCE = 1000
ExtraPage = tuple[str, Callable[..., HttpResponseBase], str]


class ConsoleAdmin(BadgeMixin, AutocompleteMixin, ModelAdmin):
    """For operators only; subclasses declare what others may see."""

    # What no user may do in the console: "add", "change" or "delete".
    forbidden: Sequence[str] = ()
    # Of those allowed and of own pages, by name: what the dangerous ones do, and the harmless ones. Actions of the list
    # are marked themselves (`fulfillment.core.http.dangerous`).
    dangerous_pages: Mapping[str, str] = {}
    harmless_pages: Collection[str] = ()
    paginator = BoundedPaginator
    list_per_page = 25
    list_max_show_all = 0
    show_full_result_count = False
    # Each facet counts the whole table once more.
    show_facets = ShowFacets.NEVER
    compressed_fields = True
    empty_value_display = NOTHING
    # The hint of an empty list.
    empty_help = ""
    # The button that leads to a new record; empty means Add and the name of the model.
    add_label = ""
    # What menu and head call the list, where that is not the plural of the model.
    plural_name = ""
    # Links beside the search of the list.
    list_tools_template = ""
    # In place of those of the model, by field.
    help_texts: Mapping[str, str] = {}
    # Lists in the record's rendering that its history compares, with the members that identify entries.
    tracked_parts: Parts = {}
    # Whether the form itself refuses changes based on an outdated page.
    handles_conflicts = False
    # Searched as they are, by an index: {"number": int, "external_id": str}. Replaces `search_fields`' own search.
    exact_search: Mapping[str, Any] = {}

    def __init__(self, model: Any, admin_site: Any) -> None:
        own = type(self)
        own.model = model
        name_admin(own)
        super().__init__(model, admin_site)

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
            return str((declared_by(getattr(self, name, None)) or UNDECLARED).effect)
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

    def extra_changes(self, record: Any, events: Sequence[Any]) -> Mapping[int, list[FieldChange]]:
        """Further changes for the history page: (what, before, after) by `pgh_id`."""
        return {}

    def disambiguated_label(self, record: Any) -> str:
        """The record's label in choices, which must be unique."""
        return str(record)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_access(request, "view")

    # Django's choosing of related records calls it with `obj=`.
    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_access(request, "view", obj)

    def has_add_permission(self, request: HttpRequest, *instance: Any) -> bool:
        return "add" not in self.forbidden and self.has_access(request, "add")

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return "change" not in self.forbidden and self.has_access(request, "change", instance)

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return "delete" not in self.forbidden and self.has_access(request, "delete", instance)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **with_help(options, self.form, self.help_texts))
        if not change or self.handles_conflicts:
            return form
        return type(form.__name__, (OptimisticLockMixin, form), {})

    @property
    def has_audit_history(self) -> bool:
        """Whether the model has an audit trail. Others are trails themselves, or show their author and date."""
        return hasattr(self.model, "pgh_event_model")

    def extra_pages(self) -> Iterable[ExtraPage]:
        """Pages beside Django's: route, view and name, which begins with app and model in `reverse`."""
        return ()

    def get_urls(self) -> list[Any]:
        """Removes Django's history page for models without a trail: it shows only changes made in the admin."""
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path(route, self.admin_site.admin_view(view), name=f"{prefix}_{name}")
            for route, view, name in self.extra_pages()
        ]
        patterns = [
            url for url in super().get_urls() if self.has_audit_history or url.name != f"{prefix}_history"
        ]
        return [*own, *patterns]

    def page_context(
        self, request: HttpRequest, title: str, *, below: Model | None = None, **context: Any
    ) -> dict[str, Any]:
        """The context of an own page of this admin. Its head names the record that it is `below` and leads back to it,
        or to the list."""
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "object": below,
            "back_to": self.address_of(below) if below else "",
            **context,
        }

    @staticmethod
    def address_of(record: Model) -> str:
        opts = record._meta
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[record.pk])

    def record_to_change(self, request: HttpRequest, key: Any) -> Any:
        """The record of an own page. Raises Http404, and PermissionDenied for a person who may not change it."""
        record = get_object_or_404(self.get_queryset(request), pk=key)
        if not self.has_access(request, "change", record):
            raise PermissionDenied
        return record

    def call_service(
        self, request: HttpRequest, record: Model, service: Callable[[], object], done: str
    ) -> HttpResponse:
        """Says on the page of the record that the service is `done`, or why it refused."""
        with errors_as_messages(request):
            service()
            messages.success(request, done)
        return HttpResponseRedirect(self.address_of(record))

    def record_context(self, request: HttpRequest, record: Any) -> dict[str, Any]:
        """Additions to the context of the page of a record."""
        return {}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        context["show_history"] = context.get("show_history") and self.has_audit_history
        if (record := kwargs.get("obj")) is not None:
            context |= self.record_context(request, record)
            usual = [_(title) % self.opts.verbose_name for title in ("Change %s", "View %s")]
            if context.get("title") in usual:
                context["title"] = capfirst(self.opts.verbose_name)
        return super().render_change_form(request, context, *args, **kwargs)

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[ConsoleList]:
        return ConsoleList

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        try:
            changelist = super().get_changelist_instance(request)
        except IncorrectLookupParameters as fault:
            messages.warning(request, _("%(fault)s All records are shown.") % {"fault": fault})
            raise
        changelist.title = capfirst(self.plural_name or self.opts.verbose_name_plural)
        return changelist

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> NoReturn:
        """Django's pages call it for an ID that names no record the user sees, or is none at all."""
        raise Http404(_("No %(verbose_name)s has this ID.") % {"verbose_name": opts.verbose_name})

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        record = self.get_object(request, unquote(object_id))
        if record is None:
            self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, record):
            raise PermissionDenied
        return history_page(self, request, record)

    def response_action(self, request: HttpRequest, queryset: QuerySet) -> HttpResponseBase | None:
        """Refuses keys of another kind than the list's, and more records than one request can work through."""
        try:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.to_python(key)
        except ValidationError:
            messages.warning(
                request, _("The selection does not belong to this list. Nothing was changed; select again.")
            )
            return None
        if request.POST.get("select_across") == "1" and queryset[: MAX_AT_ONCE + 1].count() > MAX_AT_ONCE:
            messages.error(
                request,
                _("At most %(max_at_once)s at once. Filter the list, or select fewer.")
                % {"max_at_once": number_format(MAX_AT_ONCE, force_grouping=True)},
            )
            return None
        response: HttpResponseBase | None = super().response_action(request, queryset)
        return response

    def construct_change_message(self, request: Any, form: Any, formsets: Any, add: bool = False) -> Any:
        changes = super().construct_change_message(request, form, formsets, add)
        request.is_unchanged = not add and not changes
        return changes

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """An unchanged record is not saved: that would move its `updated`, and write an entry in the audit trail."""
        if not change or differs_from_stored(obj):
            super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Sequence[Any], change: bool) -> None:
        """Changed rows move `updated`: by the newest entry of the record itself, forms opened before are refused."""
        if change and not form.has_changed() and any(formset.has_changed() for formset in formsets):
            form.instance.save(update_fields=["updated"])
        super().save_related(request, form, formsets, change)

    def response_change(self, request: HttpRequest, record: Any) -> HttpResponseBase:
        """Reports no change if the form changed nothing."""
        if getattr(request, "is_unchanged", False) and IS_POPUP_VAR not in request.POST:
            messages.info(request, _("No changes to save."))
            return HttpResponseRedirect(request.get_full_path())
        response: HttpResponseBase = super().response_change(request, record)
        return response

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        """Stays on the page of the record after saving."""
        return HttpResponseRedirect(request.get_full_path())

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        if not self.has_view_or_change_permission(request, obj):
            return super().response_post_save_add(request, obj)
        return HttpResponseRedirect(self.address_of(obj))

    def get_search_results(
        self, request: HttpRequest, records: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        if not search_term.strip():
            return records, False
        if not self.exact_search:
            return apply_search(records, self.get_search_fields(request), search_term), False
        found = Q(pk__in=())
        for lookup, kind in self.exact_search.items():
            try:
                found |= Q(**{lookup: kind(search_term.strip())})
            except (ValueError, OverflowError):
                continue
        return records.filter(found), False
