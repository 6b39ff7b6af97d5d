"""The admin of applications, with an action on their tokens."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from applications.oauth.services.authorizations import end_tokens_of_application
from applications.registration.admin.applications import ApplicationAdmin
from applications.registration.models import Application
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.http.dangerous import harmless


@admin.register(Application)
class ApplicationWithTokensAdmin(ApplicationAdmin):
    actions = [*ApplicationAdmin.actions, "end_tokens"]

    @harmless
    @admin.action(description="End all tokens and sign-ins …", permissions=["change"])
    @requires_confirmation(
        "Revoke all tokens and sign-ins of these applications? Their users have to sign in again.", "Revoke"
    )
    def end_tokens(self, request: HttpRequest, chosen: QuerySet) -> None:
        for application in chosen:
            end_tokens_of_application(application=application)
            messages.success(request, f"{application}: all tokens and codes are revoked.")
