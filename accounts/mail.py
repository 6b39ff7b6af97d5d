"""Sends mails from plain text templates whose first line is the subject."""

import logging
import re
import smtplib
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.mail import send_mail
from django.core.mail.backends.smtp import EmailBackend
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from fulfillment.core.errors import Unavailable

log = logging.getLogger(__name__)
PAIR = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);")


# For a whole conversation with the mail server, in seconds; EMAIL_TIMEOUT holds for each byte that it sends.
TIME_LIMIT = 30.0


class MailUnavailable(Unavailable):
    code = "mail_unavailable"


class _Limited(smtplib.SMTP):
    """Hangs up on a server that still replies at the end of TIME_LIMIT."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._ends = time.monotonic() + TIME_LIMIT
        super().__init__(*arguments, **options)

    def getreply(self) -> tuple[int, bytes]:
        timer = threading.Timer(self._ends - time.monotonic(), self._hang_up, [self.sock])
        timer.daemon = True
        timer.start()
        try:
            return super().getreply()
        finally:
            timer.cancel()

    @staticmethod
    def _hang_up(connection: socket.socket) -> None:
        with suppress(OSError):
            # The plain socket's: `SSLSocket.shutdown` would drop the TLS object that the other thread reads from.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _LimitedTLS(_Limited, smtplib.SMTP_SSL):
    pass


class SmtpBackend(EmailBackend):
    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _LimitedTLS if self.use_ssl else _Limited


def send_templated_mail(template: str, to: str, context: Mapping[str, object], *, language: str = "") -> None:
    """Sends in the person's language, else the installation's. Raises MailUnavailable if the mail server refuses.

    Never call it in a transaction: mail servers may be slow.
    """
    language = language or settings.DEFAULT_LANGUAGE
    with translation.override(language):
        text = render_to_string(template, {"public_url": settings.PUBLIC_URL, **context})
    subject, body = text.strip().partition("\n")[::2]
    try:
        send_text(subject, body, to, language=language)
    except (smtplib.SMTPException, OSError) as error:
        log.exception(
            "A mail could not be sent (%s) by %s:%s.", template, settings.EMAIL_HOST, settings.EMAIL_PORT
        )
        raise MailUnavailable(
            _("The mail cannot be sent right now. Please try again in a few minutes.")
        ) from error


def send_text(subject: str, body: str, to: str, *, language: str = "") -> None:
    """Sends a mail as plain text and as HTML in the colors of the service."""
    # The subject contains names chosen by users, and a header must be one line.
    subject, text = " ".join(subject.split()), body.strip() + "\n"
    light, dark = colors()
    context = {
        "subject": subject,
        "parts": _split_paragraphs(text),
        "light": light,
        "dark": dark,
        "language": language,
    }
    send_mail(subject, text, None, [to], html_message=render_to_string("mails/letter.html", context))


@cache
def colors() -> tuple[dict[str, str], dict[str, str]]:
    """The colors of static/brand/tokens.css for light and dark: mail programs support no CSS variables."""
    path = finders.find("brand/tokens.css")
    pairs = PAIR.findall(Path(str(path)).read_text()) if path else []
    pairs_by_name = [(name.replace("-", "_"), light, dark) for name, light, dark in pairs]
    return {name: pair[0] for name, *pair in pairs_by_name}, {name: pair[1] for name, *pair in pairs_by_name}


def _split_paragraphs(text: str) -> list[list[dict[str, object]]]:
    """Paragraphs of lines. Only a URL of this service on its own line becomes a link: names may contain others."""
    return [
        [{"text": line, "is_link": line.startswith(f"{settings.PUBLIC_URL}/")} for line in part.splitlines()]
        for part in text.strip().split("\n\n")
    ]
