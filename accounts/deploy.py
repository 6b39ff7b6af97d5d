"""Checks at deployment and process start, and steps after migrations."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info
from django.db import Error as DatabaseError
from django.db import ProgrammingError

from accounts.demo import demo_refusal, demo_sign_ins_left, refuse_demo_sign_ins
from accounts.models import Tenant
from fulfillment.core.errors import in_one_line


def before_start() -> None:
    refuse_demo_sign_ins()


def after_migrations() -> None:
    Tenant.objects.get_or_create(
        domain=settings.DEFAULT_TENANT_DOMAIN, defaults={"name": settings.DEFAULT_TENANT_DOMAIN}
    )


def deployment_checks() -> Iterator[CheckMessage]:
    try:
        found = demo_sign_ins_left()
    except ProgrammingError:
        yield Info("The database has no tables of this release yet: run prepare.", id="fulfillment.I002")
        return
    except DatabaseError as error:
        yield Info(
            f"The database did not answer, so nothing in it was checked: {in_one_line(error)}",
            id="fulfillment.I003",
        )
        return
    if found:
        yield Error(demo_refusal(found), id="fulfillment.E011")
