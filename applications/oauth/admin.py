"""Admins of applications and users with an action on their tokens, and read-only admins of tokens."""

from typing import Any

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from oauth2_provider.models import AccessToken, Grant, IDToken, RefreshToken, revoke_access_token

from accounts.admin import UserAdmin
from accounts.models import User
from accounts.names import prepared_name
from applications.oauth.services import revoke_tokens
from applications.registration.admin.applications import ApplicationAdmin
from applications.registration.models import Application
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.http.dangerous import harmless

# Shown in the console; the OAuth library has no catalogs of its own.
LABELS_OF_LIBRARY = (
    gettext_noop("authorization grant type"),
    gettext_noop("client ID"),
    gettext_noop("client secret"),
    gettext_noop("client type"),
    gettext_noop("redirect URIs"),
    gettext_noop("resource"),
    gettext_noop("revoked"),
    gettext_noop("skip authorization"),
    gettext_noop("token"),
    gettext_noop("Authorization code"),
    gettext_noop("Client credentials"),
    gettext_noop("Confidential"),
    gettext_noop("Implicit"),
    gettext_noop("Public"),
)


@admin.register(Application)
class ApplicationWithTokensAdmin(ApplicationAdmin):
    actions = [*ApplicationAdmin.actions, "end_tokens"]

    @harmless
    @admin.action(description="End all tokens and sign-ins …", permissions=["change"])
    @requires_confirmation(
        "Revoke all tokens and sign-ins of these applications? Their users have to sign in again.", "Revoke"
    )
    def end_tokens(self, request: HttpRequest, applications: QuerySet) -> None:
        for application in applications:
            revoke_tokens(application=application)
            messages.success(
                request,
                _("%(application)s: all tokens and codes are revoked.") % {"application": application},
            )


for model in (AccessToken, RefreshToken, Grant, IDToken, Group):
    admin.site.unregister(model)


apps.get_app_config("oauth2_provider").verbose_name = "Sign-in"


class TokenAdmin(ReadOnlyAdmin):
    list_select_related = ["application", "user"]
    search_fields = ["application__client_id", "user__username"]
    # By the indexes of both foreign keys: there are far more tokens than applications and users.
    exact_search = {"application__client_id": str, "user__prepared_name": prepared_name}
    search_help_text = "Exact client ID or user name"
    ordering = ["-pk"]


@admin.register(AccessToken)
class AccessTokenAdmin(TokenAdmin):
    list_display = ["application", "user", "scope", "created", "expires"]
    fields = list_display
    actions = ["revoke"]
    empty_help = "Tokens appear when applications or users sign in."

    @harmless
    @admin.action(description="Revoke with their refresh tokens …", permissions=["view"])
    @requires_confirmation("Revoke these access tokens with their refresh tokens?", "Revoke")
    def revoke(self, request: HttpRequest, tokens: QuerySet) -> None:
        with transaction.atomic():
            number = sum(1 for token in tokens if revoke_access_token(token) is None)
        messages.success(request, _("%(number)s access tokens revoked.") % {"number": number})


@admin.register(RefreshToken)
class RefreshTokenAdmin(TokenAdmin):
    list_display = ["application", "user", "created", "revoked"]
    fields = ["application", "user", "token_family", "created", "revoked"]
    empty_help = "Tokens appear when users allow an application to act for them."

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("token")


admin.site.unregister(User)


@admin.register(User)
class UserWithTokensAdmin(UserAdmin):
    def save_model(self, request: HttpRequest, instance: User, form: forms.ModelForm, change: bool) -> None:
        """Ends all tokens of a deactivated user; otherwise stolen ones would work again after reactivation."""
        super().save_model(request, instance, form, change)
        if change and not instance.is_active:
            revoke_tokens(user=instance)
