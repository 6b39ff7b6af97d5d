"""The inbox of requests for associations, and the page on which operators decide them."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.decorators import display

from accounts.admin.decision_forms import GrantsForm, NoteForm
from accounts.callers import Caller
from accounts.models import AssociationRequest, AssociationState
from accounts.selectors.associations import get_applicant
from accounts.services.associations import approve_association, deny_association
from fulfillment.core.admin.base import ConsoleAdmin, ExtraPage
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.errors import Conflict
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import parse_uuid

APPROVE = "Approve these requests with the permissions requested?"
DENY = "Decline these requests without a reason? Applicants are informed and may send another request."
INBOX = "admin:accounts_associationrequest_changelist"
Decisions = Sequence[tuple[AssociationRequest, dict[str, Any]]]
COLORS: dict[str, str] = {
    AssociationState.PENDING: "warning",
    AssociationState.APPROVED: "success",
    AssociationState.DENIED: "danger",
    AssociationState.WITHDRAWN: "default",
}


class RequestStateFilter(admin.SimpleListFilter):
    """Shows pending requests by default."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("all", _("All")),
            *(
                (state.value, str(state.label))
                for state in AssociationState
                if state != AssociationState.PENDING
            ),
        ]

    def queryset(self, request: HttpRequest, requests: QuerySet) -> QuerySet:
        state = self.value() or AssociationState.PENDING
        return requests if state == "all" else requests.filter(state=state)

    def choices(self, changelist: Any) -> Any:
        yield {
            "selected": self.value() is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": AssociationState.PENDING.label,
        }
        for value, title in self.lookup_choices:
            yield {
                "selected": self.value() == value,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": title,
            }


@admin.register(AssociationRequest)
class AssociationRequestAdmin(ConsoleAdmin):
    """The inbox. A decision is made with its grants and a note, for one request or for several at once."""

    dangerous_pages = {"decide": "Decide association requests"}
    harmless_pages = ("change",)
    forbidden = ("add", "delete")
    list_display = [
        "application",
        "requested_access",
        "requested_grants",
        "message",
        "since",
        "shown_state",
        "decision",
    ]
    list_filter = [RequestStateFilter]
    list_select_related = ["application", "store", "user", "requested_by"]
    search_fields = ["application__name", "application__client_id", "store__external_id", "user__username"]
    search_help_text = "Application, store or user"
    empty_help = "No pending requests. Those decided before are under Filters."
    change_form_outer_before_template = "admin/accounts/request_before.html"
    list_before_template = "admin/accounts/requests_before.html"
    fields = [
        "application",
        "store",
        "user",
        "requested_by",
        "created",
        "message",
        "shown_state",
        "grants",
        "note",
        "decided_by",
        "decided",
    ]
    readonly_fields = fields
    actions = ["decide", "approve", "deny"]

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Leaves out what is alike in all rows: pending ones have one state, decided ones no decision."""
        state = request.GET.get(RequestStateFilter.parameter_name, AssociationState.PENDING)
        left_out = {"all": "", AssociationState.PENDING: "shown_state"}.get(state, "decision")
        return [name for name in self.list_display if name != left_out]

    @admin.display(description="store", ordering="store")
    def requested_access(self, request: AssociationRequest) -> Any:
        return request.store or _("Owner: %(user)s") % {"user": request.user}

    @admin.display(description="permissions")
    def requested_grants(self, request: AssociationRequest) -> str:
        return ", ".join(request.grants) or _("Default permissions")

    @admin.display(description="requested", ordering="created")
    def since(self, request: AssociationRequest) -> str:
        when = format_html("<small>{}</small>", naturaltime(request.created))
        return format_html("{} {}", request.requested_by, when) if request.requested_by else when

    @display(description="state", label={label: COLORS[value] for value, label in AssociationState.choices})
    def shown_state(self, request: AssociationRequest) -> str:
        return request.get_state_display()

    @admin.display(description="decision")
    def decision(self, request: AssociationRequest) -> str:
        if request.state != AssociationState.PENDING:
            return ""
        return render_to_string("admin/accounts/decision_buttons.html", {"access_request": request})

    def get_fieldsets(self, request: HttpRequest, access_request: AssociationRequest | None = None) -> Any:
        """No fields for a pending request: the decision form shows them."""
        is_pending = access_request is not None and access_request.state == AssociationState.PENDING
        return [] if is_pending else super().get_fieldsets(request, access_request)

    @harmless
    @admin.action(description="Decide, with permissions and a note …", permissions=["change"])
    def decide(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        """Decides at most one page of requests, because a silent cut would go unnoticed."""
        ids = list(queryset.values_list("pk", flat=True)[: self.list_per_page + 1])
        if len(ids) > self.list_per_page:
            messages.error(
                request,
                _("At most %(list_per_page)s requests are decided on one page.")
                % {"list_per_page": self.list_per_page},
            )
            return None
        return HttpResponseRedirect(reverse("admin:accounts_associationrequest_decide", query={"id": ids}))

    @dangerous(gettext_lazy("Approve association requests"))
    @admin.action(description="Approve with the permissions requested …", permissions=["change"])
    @requires_confirmation(APPROVE, "Approve")
    def approve(self, request: HttpRequest, queryset: QuerySet) -> None:
        self._decide(request, [(access_request, {}) for access_request in queryset], approve_association)

    @harmless
    @admin.action(description="Decline …", permissions=["change"])
    @requires_confirmation(DENY, "Decline")
    def deny(self, request: HttpRequest, queryset: QuerySet) -> None:
        self._decide(request, [(access_request, {}) for access_request in queryset], deny_association)

    def extra_pages(self) -> list[ExtraPage]:
        return [("decide/", self.decision_view, "decide")]

    def record_context(self, request: HttpRequest, record: AssociationRequest) -> dict[str, Any]:
        """Adds the decision form of a pending request, and the facts about it."""
        context: dict[str, Any] = {"show_save": False, "show_save_and_continue": False, "show_close": False}
        if record.state == AssociationState.PENDING:
            related = self.get_queryset(request).select_related(*self.list_select_related)
            context |= {
                "waiting": [_with_applicant(GrantsForm(access_request=related.get(pk=record.pk)))],
                "note_form": NoteForm(),
            }
        return context

    def decision_view(self, request: HttpRequest) -> HttpResponse:
        """Decides several requests, each with its own grants, with one note for all."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        form_data = request.POST if request.method == "POST" else None
        single = form_data.get("approve_one") if form_data is not None else None
        texts = [single] if single else (form_data or request.GET).getlist("id")
        ids = [uuid for text in texts if (uuid := parse_uuid(text)) is not None]
        selected = self.get_queryset(request).select_related(*self.list_select_related).filter(pk__in=ids)
        forms = [
            GrantsForm(form_data, access_request=access_request)
            for access_request in selected
            if access_request.state == AssociationState.PENDING
        ]
        note_form = NoteForm(form_data)
        if not forms:
            self._say_decided(request, selected.exclude(state=AssociationState.PENDING))
            return HttpResponseRedirect(reverse(INBOX))
        if form_data is not None and (decisions := _sent_decisions(form_data, forms, note_form)):
            self._decide(request, *decisions)
            return HttpResponseRedirect(reverse(INBOX))
        context = {
            **self.page_context(request, _("Decide association requests")),
            "waiting": [_with_applicant(form) for form in forms],
            "note_form": note_form,
        }
        return TemplateResponse(request, "admin/accounts/decide.html", context)

    def _say_decided(self, request: HttpRequest, decided: QuerySet) -> None:
        """Reports requests that another operator decided first."""
        for access_request in decided.select_related("decided_by__tenant")[: self.list_per_page]:
            messages.info(request, _decision_text(access_request))
        if not decided:
            messages.info(request, _("These requests have already been decided."))

    def _decide(
        self,
        request: HttpRequest,
        decisions: Decisions,
        decide: Callable[..., AssociationRequest],
    ) -> None:
        caller = Caller.on_pages(request.user)
        decided: list[AssociationRequest] = []
        for access_request, choice in decisions:
            with errors_as_messages(request, about=access_request):
                try:
                    decide(caller=caller, request_id=access_request.pk, **choice)
                    decided.append(access_request)
                except Conflict:
                    self._say_decided(request, self.get_queryset(request).filter(pk=access_request.pk))
        if decided:
            count = len(decided)
            message = (
                ngettext("%(request)s: approved.", "%(count)s requests approved.", count)
                if decide is approve_association
                else ngettext("%(request)s: declined.", "%(count)s requests declined.", count)
            )
            messages.success(request, message % {"request": decided[0], "count": count})


def _decision_text(access_request: AssociationRequest) -> str:
    """Withdrawn by an application, or approved by a store that admits test applications, it names no person."""
    messages_by_state = {
        AssociationState.PENDING: _("%(request)s: pending."),
        AssociationState.APPROVED: _("%(request)s: approved %(when)s."),
        AssociationState.DENIED: _("%(request)s: denied %(when)s."),
        AssociationState.WITHDRAWN: _("%(request)s: withdrawn %(when)s."),
    }
    messages_with_person = {
        AssociationState.APPROVED: _("%(request)s: approved by %(person)s %(when)s."),
        AssociationState.DENIED: _("%(request)s: denied by %(person)s %(when)s."),
        AssociationState.WITHDRAWN: _("%(request)s: withdrawn by %(person)s %(when)s."),
    }
    person, state = access_request.decided_by, AssociationState(access_request.state)
    return (messages_by_state if person is None else messages_with_person)[state] % {
        "request": access_request,
        "person": person,
        "when": access_request.decided and naturaltime(access_request.decided),
    }


def _with_applicant(form: GrantsForm) -> GrantsForm:
    """The form with the facts about the applicant."""
    form.applicant = get_applicant(form.access_request)
    return form


def _sent_decisions(
    form_data: QueryDict, forms: Sequence[GrantsForm], note_form: NoteForm
) -> tuple[Decisions, Callable[..., AssociationRequest]] | None:
    """The decisions and the service that takes them; None where the forms have faults."""
    if form_data.get("approve_one"):
        return [(form.access_request, {}) for form in forms], approve_association
    if not note_form.is_valid():
        return None
    note = note_form.cleaned_data["note"]
    if "deny" in form_data:
        return [(form.access_request, {"note": note}) for form in forms], deny_association
    if not all(form.is_valid() for form in forms):
        return None
    decisions = [
        (form.access_request, {"note": note, "grants": form.cleaned_data["grants"]}) for form in forms
    ]
    return decisions, approve_association
