"""Requests for access to an application that another user registered."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.callers import Caller
from accounts.models import AssociationState
from accounts.pages.forms import show_faults
from accounts.pages.guards import signed_in, signed_in_user
from accounts.selectors.associations import association_request_for, association_requests_for
from accounts.services.associations import request_association, withdraw_association
from applications.registration.models import Application
from applications.registration.pages.forms import JoinForm
from applications.registration.selectors.applications import find_application
from fulfillment.core.errors import DomainError, Forbidden, NotFound
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages

JOIN_FIELDS = {"ApplicationID": "application", "Message": "message"}
REQUESTS_A_PAGE = 10


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def join_application(request: HttpRequest) -> HttpResponse:
    caller = Caller.on_pages(request.user)
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and (application := _named(form)):
        try:
            created = request_association(
                caller=caller,
                application=application,
                user_id=caller.user_id,
                message=form.cleaned_data["message"],
            )[1]
        except DomainError as error:
            show_faults(form, error, JOIN_FIELDS)
        else:
            message = _("Request sent.") if created else _("Your earlier request is still pending.")
            messages.success(request, message)
            return redirect("portal:application-join")
    own = association_requests_for(caller).filter(user=signed_in_user(request), store__isnull=True)
    page = Paginator(own, REQUESTS_A_PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "page": page, "part": "applications"}
    return render(request, "applications/join.html", context)


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def withdraw_joining(request: HttpRequest, request_id: str) -> HttpResponse:
    """GET asks for confirmation; POST performs the action."""
    caller = Caller.on_pages(request.user)
    association_request = association_request_for(caller, request_id)
    if association_request.user_id != caller.user_id:
        raise Forbidden(_("This is another person's request."))
    if request.method != "POST":
        if association_request.state != AssociationState.PENDING:
            return redirect("portal:application-join")
        return render(
            request,
            "applications/join_withdraw.html",
            {"association_request": association_request, "part": "applications"},
        )
    with errors_as_messages(request):
        withdraw_association(caller=caller, request_id=request_id)
        messages.success(
            request, _("Request %(withdrawn)s.") % {"withdrawn": AssociationState.WITHDRAWN.lower()}
        )
    return redirect("portal:application-join")


def _named(form: JoinForm) -> Application | None:
    try:
        return find_application(form.cleaned_data["application"])
    except NotFound as error:
        form.add_error("application", error.message)
        return None
