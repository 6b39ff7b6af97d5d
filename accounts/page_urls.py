from django.urls import path

from accounts.pages.confirmation import end_confirmation
from accounts.pages.emails import cancel_change, change_email, confirm_later, send_link_again
from accounts.pages.profile import (
    change_preferences,
    list_notifications,
    open_notification,
    read_all,
    regenerate_key,
    show_keys,
    show_profile,
    show_roles,
    subscribe,
)
from accounts.pages.two_factor import new_codes, set_up, show_two_factor, turn_off

urlpatterns = [
    path("notifications", list_notifications, name="notifications"),
    path("notifications/read", read_all, name="notifications-read"),
    path("notifications/preferences", change_preferences, name="notification-preferences"),
    path("notifications/<int:notification_id>", open_notification, name="notification"),
    path("profile", show_profile, name="profile"),
    path("profile/email", change_email, name="profile-email"),
    path("profile/email/link", send_link_again, name="profile-email-link"),
    path("profile/email/later", confirm_later, name="profile-email-later"),
    path("profile/email/cancel", cancel_change, name="profile-email-cancel"),
    path("profile/roles", show_roles, name="profile-roles"),
    path("profile/confirmation/end", end_confirmation, name="confirmation-end"),
    path("profile/keys", show_keys, name="profile-keys"),
    path("profile/keys/subscribe", subscribe, name="profile-subscribe"),
    path("profile/keys/<str:slot>/regenerate", regenerate_key, name="profile-key-regenerate"),
    path("profile/two-factor", show_two_factor, name="two-factor"),
    path("profile/two-factor/set-up", set_up, name="two-factor-set-up"),
    path("profile/two-factor/off", turn_off, name="two-factor-off"),
    path("profile/two-factor/codes", new_codes, name="two-factor-codes"),
]
