"""Production refuses to start on a database with demo users, because their passwords are public."""

import logging

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection
from django.db.models import Q

from accounts.models import User
from fulfillment.core.errors import in_one_line

logger = logging.getLogger("fulfillment.operations.demo")

DEMO_PASSWORDS = {
    "operator": "paper-river-lantern",
    "user": "copper-meadow-kite",
    "outsider": "silver-harbor-tulip",
}
DEMO_DOMAIN = "demo.example"
# Checking a password takes 0.1 s, so a start checks at most this many.
MAX_CHECKED = 12


def demo_sign_ins_left() -> list[str]:
    """Active accounts with a demo password, as `name@domain`. Raises django.db.Error."""
    people = Q()
    for name in DEMO_PASSWORDS:
        named_so = Q(tenant__domain__iexact=DEMO_DOMAIN) | Q(email__iexact=f"{name}@{DEMO_DOMAIN}")
        people |= Q(username__iexact=name) & (named_so | Q(is_operator=True))
    candidates = User.objects.filter(people, is_active=True).select_related("tenant").order_by("created")
    return [
        f"{user.username}@{user.tenant.domain}"
        for user in candidates[:MAX_CHECKED]
        # Not `user.check_password`, which would upgrade an old hash.
        if check_password(DEMO_PASSWORDS[user.username.lower()], user.password)
    ]


def demo_refusal(found: list[str]) -> str:
    one = found[0]
    return (
        f"This database holds sign-ins of the demo, whose passwords are public: {', '.join(found)}. Use another "
        f"database or, to keep this one, give each a new password (manage.py changepassword {one.partition('@')[0]}) "
        f"or erase it (manage.py erase_user {one})."
    )


def refuse_demo_sign_ins() -> None:
    """At the start of web and worker, and before a deploy changes anything. Raises ImproperlyConfigured.

    A database that is away stops no start: the service waits for it.
    """
    if settings.DEVELOPMENT:
        return
    try:
        found = demo_sign_ins_left()
    except Error as error:
        logger.warning(
            "It is not known whether the database holds sign-ins of the demo: %s", in_one_line(error)
        )
        return
    finally:
        if not connection.in_atomic_block:
            connection.close()
    if found:
        raise ImproperlyConfigured(demo_refusal(found))
