from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.contrib import messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from oauth2_provider.models import AccessToken, RefreshToken
from oauth2_provider.settings import oauth2_settings

from accounts.models import User
from accounts.pages.guards import signed_in
from accounts.permissions import Permission
from applications.models import Application
from applications.selectors.applications import find_application
from applications.services.authorizations import revoke_authorization


@dataclass
class Authorization:
    """What one application may do for one user, over all of its living tokens."""

    application: Application
    since: datetime
    last: datetime
    scopes: set[str] = field(default_factory=set)

    @property
    def descriptions(self) -> list[str]:
        return [str(permission.label) for permission in Permission if permission.value in self.scopes]


def authorizations_of(user: User) -> list[Authorization]:
    now = timezone.now()
    oldest = now - timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
    columns = ("application_id", "created", "scopes")
    tokens = AccessToken.objects.filter(user=user, expires__gt=now).annotate(scopes=F("scope"))
    renewals = RefreshToken.objects.filter(user=user, revoked__isnull=True, created__gt=oldest).annotate(
        scopes=F("access_token__scope")
    )
    rows = [*tokens.values_list(*columns), *renewals.values_list(*columns)]
    applications = (
        Application.objects.select_related("icon")
        .defer("icon__image", "icon__central_image")
        .in_bulk({row[0] for row in rows})
    )
    found: dict[object, Authorization] = {}
    for application_id, created, scopes in rows:
        given = found.setdefault(
            application_id, Authorization(applications[application_id], since=created, last=created)
        )
        given.since, given.last = min(given.since, created), max(given.last, created)
        given.scopes |= set((scopes or "").split())
    return sorted(found.values(), key=lambda given: given.application.name.lower())


@require_safe
@signed_in
def show_authorizations(request: HttpRequest) -> HttpResponse:
    context = {"authorizations": authorizations_of(request.user), "section": "authorizations"}
    return render(request, "accounts/authorizations.html", context)


@require_POST
@signed_in
def revoke(request: HttpRequest, application_id: str) -> HttpResponse:
    application = find_application(application_id)
    revoke_authorization(user=request.user, application=application)
    messages.success(request, f"{application.name} has no access to your account any more.")
    return redirect("portal:authorizations")
