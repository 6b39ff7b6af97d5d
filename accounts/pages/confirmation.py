"""A password typed a moment ago lets a signed-in user see the plain keys for a few minutes."""

import time

from django.http import HttpRequest

SECONDS = 300
SESSION_NAME = "password_confirmed_at"


def confirm(request: HttpRequest, password: str) -> bool:
    if not request.user.check_password(password):
        return False
    request.session[SESSION_NAME] = int(time.time())
    return True


def is_confirmed(request: HttpRequest) -> bool:
    return 0 <= time.time() - request.session.get(SESSION_NAME, 0) < SECONDS


def forget(request: HttpRequest) -> None:
    request.session.pop(SESSION_NAME, None)
