"""What signed-in people see of themselves: names, roles, subscription keys and notifications."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import NotificationKind, Subscription, SubscriptionSlot, User
from accounts.pages.forms import USER_FIELDS, ProfileForm, faults_shown
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_post, signed_in_user
from accounts.permissions import Permission
from accounts.selectors.notifications import bell_notifications, find_notification, list_preferences
from accounts.selectors.users import (
    find_subscription,
    grants_on_subjects,
    role_subjects,
    shown_subscription_keys,
)
from accounts.services.notifications import mark_read, set_preferences
from accounts.services.subscriptions import create_subscription, regenerate_subscription_key
from accounts.services.users import PROFILE, change_profile
from fulfillment.core.errors import NotFound
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.locales import get_locale

ROLES_A_PAGE = 25
A_PAGE = 25


@signed_in_form(harmless)
def show_profile(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    initial = {name: getattr(user, name) for name in PROFILE}
    form = ProfileForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        with faults_shown(form, USER_FIELDS):
            change_profile(user=user, **form.cleaned_data)
            # The next page is in the language just chosen, and so is what it says.
            translation.activate(get_locale(request, user.language))
            messages.success(request, _("Profile saved."))
            return redirect("portal:profile")
        # The header shows the stored name, not the refused one.
        user.refresh_from_db(fields=list(initial))
    return render(request, "accounts/profile.html", {"form": form, "section": "profile"})


@signed_in_page
def show_roles(request: HttpRequest) -> HttpResponse:
    """One row for each store, application or "everything", with its grants."""
    searched = request.GET.get("q", "").strip()[:200]
    user = signed_in_user(request)
    subjects = role_subjects(user, searched)
    page = Paginator(subjects, ROLES_A_PAGE).get_page(request.GET.get("page"))
    rows = grants_on_subjects(user, page)
    for row in rows:
        row["labelled_grants"] = [(grant, Permission(grant).label) for grant in row["grants"]]
    context = {"page": page, "rows": rows, "searched": searched, "section": "roles"}
    return render(request, "accounts/roles.html", context)


def _effect_on_keys(request: HttpRequest) -> str:
    return _("Show the keys") if "reveal" in request.GET else ""


@dangerous(_effect_on_keys)
@signed_in_page
def show_keys(request: HttpRequest) -> HttpResponse:
    """Keys are masked without `?reveal`."""
    subscription = find_subscription(user=signed_in_user(request))
    in_full = "reveal" in request.GET
    keys = shown_subscription_keys(subscription, in_full=in_full)
    context = {"section": "keys", "keys": keys, "subscription": subscription, "in_full": in_full}
    return render(request, "accounts/keys.html", context)


@signed_in_post(harmless)
def subscribe(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    if find_subscription(user=user) is None:
        create_subscription(user=user)
        messages.success(request, _("Subscription created, with two keys."))
    return redirect("portal:profile-keys")


@signed_in_form(dangerous(gettext_lazy("Regenerate a key")))
def regenerate_key(request: HttpRequest, slot: str) -> HttpResponse:
    """GET asks, POST regenerates."""
    subscription = _get_subscription(signed_in_user(request))
    if slot not in SubscriptionSlot.values:
        raise NotFound(_("There is a primary and a secondary key only."))
    label = SubscriptionSlot(slot).label
    if request.method == "POST":
        regenerate_subscription_key(subscription=subscription, slot=slot)
        messages.success(
            request, _("%(label)s key regenerated. The old key no longer works.") % {"label": label}
        )
        return redirect(f"{reverse('portal:profile-keys')}?reveal")
    return render(request, "accounts/regenerate_key.html", {"label": label, "section": "keys"})


def _get_subscription(user: User) -> Subscription:
    subscription = find_subscription(user=user)
    if subscription is None:
        raise NotFound(_("You have no subscription yet."))
    return subscription


@signed_in_page
def list_notifications(request: HttpRequest) -> HttpResponse:
    notifications = bell_notifications(signed_in_user(request)).order_by("-pk")
    page = Paginator(notifications, A_PAGE).get_page(request.GET.get("page"))
    return render(request, "accounts/notifications.html", {"page": page, "part": "notifications"})


@signed_in_page
def open_notification(request: HttpRequest, notification_id: int) -> HttpResponse:
    """Marks a notification as read and redirects to its subject."""
    user = signed_in_user(request)
    notification = find_notification(user, notification_id)
    if notification is None:
        raise Http404(
            _("This notification does not exist or was removed: notifications are kept for 90 days.")
        )
    if request.method == "GET":
        mark_read(user=user, notification_ids=[notification.pk])
    return redirect("/" + notification.path.lstrip("/"))


@signed_in_post(harmless)
def read_all(request: HttpRequest) -> HttpResponse:
    mark_read(user=signed_in_user(request))
    return redirect("portal:notifications")


@signed_in_form(harmless)
def change_preferences(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    if request.method == "POST":
        preferences = [
            (kind, f"{kind}-bell" in request.POST, f"{kind}-mail" in request.POST)
            for kind in NotificationKind
        ]
        set_preferences(user=user, preferences=preferences)
        messages.success(request, _("Preferences saved."))
        return redirect("portal:notification-preferences")
    context = {"preferences": list_preferences(user), "section": "notifications", "part": "profile"}
    return render(request, "accounts/notification_preferences.html", context)
