"""The toolkit's records, to look at and to revoke; their values are stored as digests and shown nowhere."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from oauth2_provider.models import AccessToken, Grant, IDToken, RefreshToken, revoke_access_token

from fulfillment.read_only_admin import ReadOnlyAdmin

for model in (AccessToken, RefreshToken, Grant, IDToken, Group):
    admin.site.unregister(model)


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyAdmin):
    list_display = ["id", "application", "user", "scope", "created", "expires"]
    list_select_related = ["application", "user"]
    search_fields = ["application__name", "application__client_id", "user__username"]
    fields = ["application", "user", "scope", "resource", "created", "expires"]
    actions = ["revoke"]
    show_full_result_count = False

    @admin.action(description="Revoke with their refresh tokens", permissions=["view"])
    def revoke(self, request: HttpRequest, tokens: QuerySet) -> None:
        with transaction.atomic():
            number = sum(1 for token in tokens if revoke_access_token(token) is None)
        messages.success(request, f"{number} access tokens revoked.")


@admin.register(RefreshToken)
class RefreshTokenAdmin(ReadOnlyAdmin):
    list_display = ["id", "application", "user", "created", "revoked"]
    list_select_related = ["application", "user"]
    search_fields = ["application__name", "application__client_id", "user__username"]
    fields = ["application", "user", "token_family", "created", "revoked"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("token")
