"""Admins of records that cannot be changed, or that a service removes."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy

from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.admin.history import (
    event_facts,
    event_value,
    names_of_codes,
    names_of_people,
    names_of_records,
    shown_value,
    tracked_fields,
)
from fulfillment.core.audit.events import event_model
from fulfillment.core.page_messages import errors_as_messages


class ReadOnlyAdmin(ConsoleAdmin):
    """For records that only services write."""

    forbidden = ("add", "change", "delete")


class HistoryAdmin(ReadOnlyAdmin):
    """The admin of a model's audit trail, read-only as in the database."""

    ordering = ["-pgh_id"]
    list_filter = ["pgh_label", "pgh_created_at"]
    list_select_related = ["pgh_context"]
    readonly_fields = ["happened", "what", "caller", "address"]
    empty_help = "No changes recorded yet."
    shown: Sequence[str] = ()

    def __init__(self, model: Any, admin_site: Any) -> None:
        super().__init__(model, admin_site)
        for name in self.shown:
            setattr(self, f"shown_{name}", self._column(name))

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return ["happened", "what", *(f"shown_{name}" for name in self.shown), "caller", "address"]

    def get_fields(self, request: HttpRequest, event: Any = None) -> list[Any]:
        columns = [] if event is None else [field.name for field in tracked_fields(event)]
        return [*self.readonly_fields, *columns]

    def get_readonly_fields(self, request: HttpRequest, event: Any = None) -> list[Any]:
        return self.get_fields(request, event)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """People and records are named, all of a page in one query for each kind."""
        changelist = super().get_changelist_instance(request)
        events = changelist.result_list = list(changelist.result_list)
        people, records = names_of_people(events), names_of_records(events, self.shown)
        codes = names_of_codes(events)
        for event in events:
            event.facts = event_facts(event, people)
            event.record_names, event.code_names = records, codes
        return changelist

    @admin.display(description="when", ordering="pgh_id")
    def happened(self, event: Any) -> str:
        return shown_value(event.pgh_created_at)

    @admin.display(description="what", ordering="pgh_label")
    def what(self, event: Any) -> str:
        return str(self._facts(event)["what"])

    @admin.display(description="by")
    def caller(self, event: Any) -> str:
        """User and application; deleted ones by their ID."""
        facts = self._facts(event)
        return " through ".join(name for name in (facts["who"], facts["through"]) if name) or "-"

    @admin.display(description="at")
    def address(self, event: Any) -> str:
        return self._facts(event)["where"] or "-"

    def _facts(self, event: Any) -> dict[str, Any]:
        if not hasattr(event, "facts"):
            event.facts = event_facts(event, names_of_people([event]))
        facts: dict[str, Any] = event.facts
        return facts

    def _column(self, name: str) -> Callable[[Any], str]:
        field = next(field for field in self.opts.concrete_fields if name in {field.name, field.attname})

        @admin.display(description=gettext_lazy("record") if name == "pgh_obj_id" else field.verbose_name)
        def shown(event: Any) -> str:
            return event_value(event, field, event.record_names, event.code_names) or "-"

        return shown


def register_history(model: Any, *shown: str, search: Sequence[str], search_help: str) -> None:
    """Registers the audit trail of a tracked model; its list has the columns `shown`."""
    values = {"shown": shown, "search_fields": search, "search_help_text": search_help}
    admin.site.register(event_model(model), type(f"{model.__name__}HistoryAdmin", (HistoryAdmin,), values))


class RemovedByService(ConsoleAdmin):
    """Deletes records by a service, which may refuse, such as for a record in use."""

    def remove(self, record: Any) -> None:
        """Calls the service; raises DomainError."""
        raise NotImplementedError

    def delete_model(self, request: HttpRequest, instance: Any) -> None:
        with errors_as_messages(request):
            self.remove(instance)

    def delete_queryset(self, request: HttpRequest, records: QuerySet) -> None:
        for record in records:
            self.delete_model(request, record)

    def response_delete(self, request: HttpRequest, display: str, object_id: Any) -> HttpResponse:
        """Reports no deletion if the service refused it."""
        if self.model._base_manager.filter(pk=object_id).exists():  # noqa: SLF001 - every row
            return HttpResponseRedirect(
                reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
            )
        return super().response_delete(request, display, object_id)
