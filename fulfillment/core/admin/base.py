"""The base class of all admins: its parts are access to pages, lists, forms, and the pages of a record."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from fulfillment.core.admin.access import AccessAdmin
from fulfillment.core.admin.forms import FormAdmin
from fulfillment.core.admin.history import FieldChange, Parts, history_page
from fulfillment.core.admin.inlines import NOTHING, AutocompleteMixin
from fulfillment.core.admin.lists import ListAdmin
from fulfillment.core.admin.names import BadgeMixin, name_admin
from fulfillment.core.page_messages import errors_as_messages

# The route, the view and the name of a page. In `reverse`, app and model come before the name.
ExtraPage = tuple[str, Callable[..., HttpResponseBase], str]


class ConsoleAdmin(BadgeMixin, AutocompleteMixin, AccessAdmin, ListAdmin, FormAdmin):
    """Adds to its parts the pages of a record: its history and the extra pages of a subclass."""

    empty_value_display = NOTHING
    # Lists in the record's rendering that its history compares, with the members that identify entries.
    tracked_parts: Parts = {}

    def __init__(self, model: Any, admin_site: Any) -> None:
        own = type(self)
        own.model = model
        name_admin(own)
        super().__init__(model, admin_site)

    def extra_changes(self, record: Any, events: Sequence[Any]) -> Mapping[int, list[FieldChange]]:
        """Further changes for the history page: (what, before, after) by `pgh_id`."""
        return {}

    def disambiguated_label(self, record: Any) -> str:
        """The record's label in choices, which must be unique."""
        return str(record)

    @property
    def has_audit_history(self) -> bool:
        """Whether the model has an audit trail. Others are trails themselves, or show their author and date."""
        return hasattr(self.model, "pgh_event_model")

    def extra_pages(self) -> Iterable[ExtraPage]:
        """Pages in addition to Django's."""
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
        """The context of an extra page. Its head names the record `below` and links back to it, or to the list."""
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

    def call_service(
        self, request: HttpRequest, record: Model, service: Callable[[], object], success: str
    ) -> HttpResponse:
        """Returns to the record's page, with the message `success` or the reason of the service's refusal."""
        with errors_as_messages(request):
            service()
            messages.success(request, success)
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

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """By its ID also where the address names an empty field to find it by (`?_to_field=`)."""
        return super().get_object(request, object_id, from_field or None)

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
