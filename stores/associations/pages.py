"""The associations of an application, and the directory of stores that accept requests for access."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.callers import Caller
from accounts.models import AssociationRequest, AssociationState, Role
from accounts.pages.forms import show_faults
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_user
from accounts.permissions import DEFAULT_STORE_GRANTS, EXPLANATIONS, STORE_GRANTS, Permission
from accounts.selectors.associations import association_request_for, association_requests_for
from accounts.services.associations import request_association, withdraw_association
from applications.registration.models import Application
from applications.registration.pages.frame import page_context, require_access, require_readable
from applications.registration.selectors.applications import application_to_write, own_applications
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages
from stores.associations.selectors import countries_listed, directory_store, listed_stores, listings
from stores.catalog.models import Store

# On the pages of an application.
SUGGESTED_STORES = 50
STORES_A_PAGE = 25
REQUESTS_A_PAGE = 10
# In the directory.
LISTED_STORES_A_PAGE = 24
REQUESTS_SHOWN = 20
# The API's names of the fields.
REQUEST_FIELDS = {"StoreID": "store", "Grants": "grants", "Message": "message"}
MESSAGE_FIELD = forms.CharField(
    label=gettext_lazy("Message"),
    max_length=2000,
    required=False,
    widget=forms.Textarea(attrs={"rows": 3}),
    help_text=gettext_lazy("Who you are and what you want to print. Shown to the store when it decides."),
)


def explain_grants() -> list[tuple[str, SafeString]]:
    """The grants in the language of the page."""
    return [
        (
            permission.value,
            format_html('{} <span class="why">{}</span>', permission.label, EXPLANATIONS[permission.value]),
        )
        for permission in sorted(Permission, key=lambda permission: ".All." in permission.value)
        if permission.value in STORE_GRANTS
    ]


GRANTS_FIELD = forms.MultipleChoiceField(
    label=gettext_lazy("Permissions"),
    required=False,
    choices=explain_grants,
    widget=forms.CheckboxSelectMultiple,
)


class RequestStoreForm(forms.Form):
    """Requests a store by its ID, whether the directory lists it or not."""

    store = forms.CharField(
        label=gettext_lazy("Store ID"),
        max_length=64,
        widget=forms.TextInput(
            attrs={"list": "known-stores", "spellcheck": "false", "autocapitalize": "none"}
        ),
        help_text=gettext_lazy(
            "For example harbor-press. Find stores in the directory, or ask the store for its ID."
        ),
    )
    grants = GRANTS_FIELD
    message = MESSAGE_FIELD

    def clean_store(self) -> Store:
        store = Store.objects.filter(external_id=self.cleaned_data["store"]).first()
        if store is None:
            raise forms.ValidationError(_("There is no store with this ID."))
        return store


def add_labels(requests: Iterable[AssociationRequest]) -> list[AssociationRequest]:
    """Adds `permissions` to each request: the labels of the requested or granted permissions."""
    labelled = list(requests)
    for request in labelled:
        request.permissions = [str(Permission(grant).label) for grant in request.grants]  # type: ignore[attr-defined]
    return labelled


@signed_in_form(harmless)
def show_stores(request: HttpRequest, application_id: str) -> HttpResponse:
    """GET shows what the application may use and has requested; POST requests a store."""
    application = require_access(request, application_id)
    caller = Caller.on_pages(request.user)
    form = RequestStoreForm(initial={"grants": DEFAULT_STORE_GRANTS})
    if request.method == "POST":
        form = RequestStoreForm(request.POST)
        if form.is_valid() and _request_access(request, application_id, form.cleaned_data["store"], form):
            return redirect("portal:application-stores", application.pk)
    requests = association_requests_for(caller).filter(application=application, store__isnull=False)
    page_of_requests = Paginator(requests, REQUESTS_A_PAGE).get_page(request.GET.get("requests"))
    page_of_requests.object_list = add_labels(page_of_requests.object_list)
    searched = request.GET.get("q", "").strip()[:200]
    own_stores = Store.objects.filter(roles__user=signed_in_user(request), is_demo=False)
    context = page_context(
        request,
        application,
        "stores",
        form=form,
        page=Paginator(_list_associations(application, searched), STORES_A_PAGE).get_page(
            request.GET.get("page")
        ),
        requests=page_of_requests,
        searched=searched,
        suggestions=own_stores.distinct()[:SUGGESTED_STORES],
    )
    return render(request, "stores/associations.html", context)


@signed_in_form(harmless)
def withdraw(request: HttpRequest, application_id: str, request_id: str) -> HttpResponse:
    """GET asks for confirmation; POST performs the action."""
    application = require_readable(request, application_id)
    if request.method != "POST":
        return _confirm_withdrawal(request, application, request_id)
    with errors_as_messages(request):
        withdraw_association(caller=Caller.on_pages(request.user), request_id=request_id)
        messages.success(request, _("Request withdrawn."))
    return redirect("portal:application-stores", application.pk)


def _confirm_withdrawal(request: HttpRequest, application: Application, request_id: str) -> HttpResponse:
    association_request = association_request_for(Caller.on_pages(request.user), request_id)
    back = reverse("portal:application-stores", args=[application.pk])
    if association_request.application_id != application.pk or association_request.store is None:
        raise NotFound(_("The application has no such request."))
    if association_request.state != AssociationState.PENDING:
        return redirect(back)
    context = page_context(
        request,
        application,
        "stores",
        heading=_("Withdraw the request for %(company_name)s?")
        % {"company_name": association_request.store.company_name},
        warning=_("The request is closed without a decision. You can send a new one at any time."),
        verb=_("Withdraw"),
        back=back,
    )
    return render(request, "applications/confirm.html", context)


def _request_access(request: HttpRequest, application_id: str, store: Store, form: forms.Form) -> bool:
    caller, values = Caller.on_pages(request.user), form.cleaned_data
    try:
        association_request, created = request_association(
            caller=caller,
            application=application_to_write(caller, application_id),
            store=store,
            grants=values["grants"],
            message=values["message"],
        )
    except DomainError as error:
        show_faults(form, error, REQUEST_FIELDS)
        return False
    if association_request.state == AssociationState.APPROVED:
        message = _("%(store)s admits test applications: you can use it now.")
    elif created:
        message = _("Access to %(store)s requested. The answer comes by mail and appears here.")
    else:
        message = _("%(name)s has a request for %(store)s that is still pending.")
    say = messages.success if created or association_request.decided else messages.info
    say(request, message % {"name": association_request.application, "store": store})
    return True


def _list_associations(application: Application, searched: str) -> list[dict[str, Any]]:
    roles = Role.objects.filter(application=application, user__isnull=True, store__isnull=False)
    if searched:
        roles = roles.filter(
            Q(store__company_name__icontains=searched) | Q(store__external_id__icontains=searched)
        )
    stores: dict[int, dict[str, Any]] = {}
    columns = ("store_id", "store__company_name", "store__external_id", "grant")
    for pk, name, external_id, grant in roles.order_by("store__company_name", "pk").values_list(*columns):
        row = stores.setdefault(pk, {"name": name, "external_id": external_id, "grants": []})
        row["grants"].append(str(Permission(grant).label))
    return list(stores.values())


class RequestAccessForm(forms.Form):
    application = forms.ChoiceField(label=gettext_lazy("For which application"))
    grants = GRANTS_FIELD
    message = MESSAGE_FIELD

    def __init__(self, *args: Any, applications: list[Application], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(application.pk), application.name) for application in applications]
        field: Any = self.fields["application"]
        field.choices = choices


@signed_in_page
def show_directory(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    country = request.GET.get("country", "").strip()[:100]
    stores = listed_stores(searched=searched, country=country)
    page = Paginator(stores, LISTED_STORES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "listings": listings(page, own_applications(signed_in_user(request))),
        "searched": searched,
        "country": country,
        "countries": countries_listed(),
        "part": "stores",
    }
    return render(request, "stores/directory/list.html", context)


@signed_in_form(harmless)
def show_listed_store(request: HttpRequest, store_id: str) -> HttpResponse:
    """POST requests access for one of the person's applications."""
    store = directory_store(store_id)
    applications = list(own_applications(signed_in_user(request)))
    initial = {"grants": DEFAULT_STORE_GRANTS, "application": request.GET.get("application", "")}
    form = RequestAccessForm(request.POST or None, applications=applications, initial=initial)
    is_requested = form.is_valid() and _request_access(request, form.cleaned_data["application"], store, form)
    if is_requested:
        return redirect("portal:directory-store", store.external_id)
    caller = Caller.on_pages(request.user)
    requests = association_requests_for(caller).filter(store=store, application__in=applications)
    [listing] = listings([store], applications)
    context = {
        "listing": listing,
        "store": store,
        "form": form,
        "applications": applications,
        "requests": add_labels(requests[:REQUESTS_SHOWN]),
        "part": "stores",
    }
    return render(request, "stores/directory/store.html", context)
