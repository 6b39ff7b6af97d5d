from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import EmailChange
from accounts.pages.confirmation import page_before
from accounts.pages.forms import USER_FIELDS, EmailForm, show_faults
from accounts.pages.guards import signed_in, signed_in_user
from accounts.selectors.users import get_email_change, get_user_by_confirmation, pending_email_change
from accounts.services.email_changes import cancel_email_change, confirm_email_change, request_email_change
from accounts.services.email_confirmations import confirm_address, request_confirmation
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.http.dangerous import dangerous, harmless


@dangerous(gettext_lazy("Change the e-mail address"))
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def change_email(request: HttpRequest) -> HttpResponse:
    form = EmailForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and (change := _request_change(request, form)):
        messages.success(
            request,
            _("Check the mail of %(email)s: open the link in it to finish the change.")
            % {"email": change.email},
        )
        return redirect("portal:profile-email")
    context = {"form": form, "pending": pending_email_change(signed_in_user(request)), "section": "profile"}
    return render(request, "accounts/email.html", context)


@harmless
@require_POST
@signed_in
def cancel_change(request: HttpRequest) -> HttpResponse:
    cancel_email_change(user=signed_in_user(request))
    messages.success(request, _("Change of e-mail address cancelled."))
    return redirect("portal:profile-email")


@harmless
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_email(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a button: mail scanners follow links and must not confirm anything."""
    try:
        if request.method == "POST":
            user = confirm_email_change(token=token)
            return render(request, "accounts/email_confirmed.html", {"changed": user})
        context = {"change": get_email_change(token)}
    except NotFound:
        return render(request, "accounts/email_confirm.html", {"change": None}, status=404)
    return render(request, "accounts/email_confirm.html", context)


@harmless
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_own_address(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a button, as above. Needs no sign-in: the link proves access to the mailbox."""
    template = "accounts/address_confirm.html"
    try:
        if request.method == "POST":
            user = confirm_address(token=token)
            if request.user.is_authenticated and request.user.pk == user.pk:
                request.user.email_confirmed = user.email_confirmed
            return render(request, template, {"account": user, "is_done": True})
        account = get_user_by_confirmation(token)
    except NotFound:
        return render(request, template, {"account": None}, status=404)
    return render(request, template, {"account": account, "is_done": account.email_confirmed is not None})


@harmless
@require_POST
@signed_in
def send_link_again(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    if user.email_confirmed is None:
        request_confirmation(user=user)
        messages.success(
            request,
            _(
                "We send a link to %(email)s. The limit is %(mails_per_hour)s mails an hour and "
                "%(mails_per_day)s a day."
            )
            % {
                "email": user.email,
                "mails_per_hour": settings.MAILS_PER_HOUR,
                "mails_per_day": settings.MAILS_PER_DAY,
            },
        )
    return redirect("portal:profile")


@harmless
@require_POST
@signed_in
def confirm_later(request: HttpRequest) -> HttpResponse:
    """Puts the banner away until the next sign-in; the profile still says it."""
    request.session["email_later"] = True
    return HttpResponseRedirect(page_before(request))


def _request_change(request: HttpRequest, form: EmailForm) -> EmailChange | None:
    try:
        return request_email_change(user=signed_in_user(request), email=form.cleaned_data["email"])
    except DomainError as error:
        show_faults(form, error, USER_FIELDS)
        return None
