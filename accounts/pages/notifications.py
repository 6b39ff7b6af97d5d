"""The user's notifications, and the preferences for them."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Notification, NotificationKind
from accounts.pages.guards import signed_in, signed_in_user
from accounts.selectors.notifications import list_preferences
from accounts.services.notifications import mark_read, set_preferences
from fulfillment.core.http.dangerous import harmless

A_PAGE = 25


@require_safe
@signed_in
def list_notifications(request: HttpRequest) -> HttpResponse:
    found = Notification.objects.filter(user=signed_in_user(request), in_bell=True).order_by("-pk")
    page = Paginator(found, A_PAGE).get_page(request.GET.get("page"))
    return render(request, "accounts/notifications.html", {"page": page, "part": "notifications"})


@require_safe
@signed_in
def open_notification(request: HttpRequest, notification_id: int) -> HttpResponse:
    """Marks a notification as read and redirects to its subject."""
    user = signed_in_user(request)
    found = Notification.objects.filter(user=user, pk=notification_id).first()
    if found is None:
        raise Http404(
            _("This notification does not exist or was removed: notifications are kept for 90 days.")
        )
    mark_read(user=user, notification_ids=[found.pk])
    return redirect("/" + found.path.lstrip("/"))


@harmless
@require_POST
@signed_in
def read_all(request: HttpRequest) -> HttpResponse:
    mark_read(user=signed_in_user(request))
    return redirect("portal:notifications")


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def change_preferences(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    if request.method == "POST":
        chosen = [
            (kind, f"{kind}-bell" in request.POST, f"{kind}-mail" in request.POST)
            for kind in NotificationKind
        ]
        set_preferences(user=user, chosen=chosen)
        messages.success(request, _("Preferences saved."))
        return redirect("portal:notification-preferences")
    context = {"preferences": list_preferences(user), "section": "notifications", "part": "profile"}
    return render(request, "accounts/notification_preferences.html", context)
