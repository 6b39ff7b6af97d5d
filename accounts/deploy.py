"""Checks at deployment and process start, and steps after migrations."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info
from django.db import Error as DatabaseError

from accounts.demo_sign_ins import demo_sign_ins_left, refusal_of, refuse_demo_sign_ins
from accounts.models import Tenant


def before_start() -> None:
    refuse_demo_sign_ins()


def after_migrations() -> None:
    Tenant.objects.get_or_create(
        domain=settings.DEFAULT_TENANT_DOMAIN, defaults={"name": settings.DEFAULT_TENANT_DOMAIN}
    )


def deployment_checks() -> Iterator[CheckMessage]:
    try:
        found = demo_sign_ins_left()
    except DatabaseError:
        yield Info(
            "The database did not answer or is not migrated: whether it holds the demo's sign-ins was not looked at.",
            id="fulfillment.I002",
        )
        return
    if found:
        yield Error(refusal_of(found), id="fulfillment.E011")
