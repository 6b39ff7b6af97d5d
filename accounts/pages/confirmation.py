"""A password typed a moment ago lets a signed-in user see the plain keys for a few minutes."""

import math
import time

from django.contrib.auth import authenticate
from django.http import HttpRequest

SECONDS = 300
SESSION_NAME = "password_confirmed_at"


def is_password_of(request: HttpRequest, password: str) -> bool:
    """Asked as a sign-in is, so that whatever slows down guessing there does so here."""
    name = f"{request.user.username}@{request.user.tenant.domain}"
    found = authenticate(request, username=name, password=password)
    return found is not None and found.pk == request.user.pk


def password_complaint(request: HttpRequest) -> str:
    """Why the password just asked for did not count."""
    if refusal := getattr(request, "sign_in_refusal", None):
        minutes = math.ceil(refusal.seconds_left / 60)
        return f"Too many attempts. Try again in {minutes} minute{'' if minutes == 1 else 's'}."
    return "This is not your password."


def confirm(request: HttpRequest, password: str) -> bool:
    if not is_password_of(request, password):
        return False
    request.session[SESSION_NAME] = int(time.time())
    return True


def is_confirmed(request: HttpRequest) -> bool:
    return 0 <= time.time() - request.session.get(SESSION_NAME, 0) < SECONDS


def forget(request: HttpRequest) -> None:
    request.session.pop(SESSION_NAME, None)
