"""The directory of stores that accept requests for access, and the page of each store."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.callers import Caller
from accounts.pages.forms import show_faults
from accounts.pages.guards import signed_in, signed_in_user
from accounts.permissions import DEFAULT_STORE_GRANTS
from accounts.selectors.associations import association_requests_for
from accounts.services.associations import request_association
from applications.registration.models import Application
from applications.registration.selectors.applications import application_to_write, own_applications
from fulfillment.core.errors import DomainError
from fulfillment.core.http.dangerous import harmless
from stores.associations.pages.forms import GRANTS_FIELD, MESSAGE_FIELD, REQUEST_FIELDS, with_labels
from stores.associations.selectors.directory import countries_listed, directory_store, listed_stores, listings
from stores.catalog.models import Store

STORES_A_PAGE = 24
REQUESTS_SHOWN = 20


class RequestAccessForm(forms.Form):
    application = forms.ChoiceField(label="For which application")
    grants = GRANTS_FIELD
    message = MESSAGE_FIELD

    def __init__(self, *args: Any, applications: list[Application], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(one.pk), one.name) for one in applications]
        field: Any = self.fields["application"]
        field.choices = choices


@require_safe
@signed_in
def show_directory(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    country = request.GET.get("country", "").strip()[:100]
    stores = listed_stores(searched=searched, country=country)
    page = Paginator(stores, STORES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "listings": listings(page, own_applications(signed_in_user(request))),
        "searched": searched,
        "country": country,
        "countries": countries_listed(),
        "part": "stores",
    }
    return render(request, "stores/directory/list.html", context)


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def show_listed_store(request: HttpRequest, store_id: str) -> HttpResponse:
    """POST requests access for one of the person's applications."""
    store = directory_store(store_id)
    applications = list(own_applications(signed_in_user(request)))
    initial = {"grants": DEFAULT_STORE_GRANTS, "application": request.GET.get("application", "")}
    form = RequestAccessForm(request.POST or None, applications=applications, initial=initial)
    if request.method == "POST" and form.is_valid() and _requested(request, store, form):
        return redirect("portal:directory-store", store.external_id)
    caller = Caller.on_pages(request.user)
    requests = association_requests_for(caller).filter(store=store, application__in=applications)
    [listing] = listings([store], applications)
    context = {
        "listing": listing,
        "store": store,
        "form": form,
        "applications": applications,
        "requests": with_labels(requests[:REQUESTS_SHOWN]),
        "part": "stores",
    }
    return render(request, "stores/directory/store.html", context)


def _requested(request: HttpRequest, store: Store, form: RequestAccessForm) -> bool:
    caller = Caller.on_pages(request.user)
    sent = form.cleaned_data
    try:
        application = application_to_write(caller, sent["application"])
        _, created = request_association(
            caller=caller,
            application=application,
            store=store,
            grants=sent["grants"],
            message=sent["message"],
        )
    except DomainError as error:
        show_faults(form, error, REQUEST_FIELDS)
        return False
    if created:
        messages.success(request, f"Access to {store} requested. The answer comes by mail and appears here.")
    else:
        messages.info(request, f"{application.name} has a request for {store} that is still pending.")
    return True
