from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.pages.forms import USER_FIELDS, ProfileForm, show_faults
from accounts.pages.guards import signed_in, signed_in_user
from accounts.permissions import Permission
from accounts.selectors.users import grants_on_subjects, role_subjects
from accounts.services.users import PROFILE, change_profile
from fulfillment.core.errors import DomainError
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.locales import locale_of

ROLES_A_PAGE = 25


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def show_profile(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    initial = {name: getattr(user, name) for name in PROFILE}
    form = ProfileForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            change_profile(user=user, **form.cleaned_data)
        except DomainError as error:
            # The header shows the stored name, not the refused one.
            user.refresh_from_db(fields=list(initial))
            show_faults(form, error, USER_FIELDS)
        else:
            # The next page is in the language just chosen, and so is what it says.
            translation.activate(locale_of(request, user.language))
            messages.success(request, _("Profile saved."))
            return redirect("portal:profile")
    return render(request, "accounts/profile.html", {"form": form, "section": "profile"})


@require_safe
@signed_in
def show_roles(request: HttpRequest) -> HttpResponse:
    """One row for each store, application or "everything", with its grants."""
    searched = request.GET.get("q", "").strip()[:200]
    user = signed_in_user(request)
    found = role_subjects(user, searched)
    page = Paginator(found, ROLES_A_PAGE).get_page(request.GET.get("page"))
    rows = grants_on_subjects(user, page)
    for row in rows:
        row["labelled_grants"] = [(grant, Permission(grant).label) for grant in row["grants"]]
    context = {"page": page, "rows": rows, "searched": searched, "section": "roles"}
    return render(request, "accounts/roles.html", context)
