"""Letters to people: plain text from a template whose first line is the subject."""

import logging
import smtplib
from collections.abc import Mapping

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

from fulfillment.core.errors import Unavailable

log = logging.getLogger(__name__)


class MailAway(Unavailable):
    code = "mail_unavailable"


def send_letter(template: str, to: str, context: Mapping[str, object]) -> None:
    """Raises MailAway when the mail server does not take it. Never inside a transaction: a mail server may be slow."""
    text = render_to_string(template, {"public_url": settings.PUBLIC_URL, **context})
    subject, _, body = text.strip().partition("\n")
    try:
        # Names people chose are in the subject, and a header is one line.
        send_mail(" ".join(subject.split()), body.strip() + "\n", None, [to])
    except (smtplib.SMTPException, OSError) as error:
        log.exception("A letter could not be sent (%s).", template)
        raise MailAway("The mail cannot be sent right now. Please try again in a few minutes.") from error
