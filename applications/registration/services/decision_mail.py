"""Mail about the decision on a request for access, queued with the decision itself."""

from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from accounts.models import AssociationRequest, AssociationState
from accounts.permissions import Permission
from applications.registration.services.mail import mail_owners, mail_user


def mail_decision(sender: Any, *, request: AssociationRequest, **more: Any) -> None:
    """Receives `accounts.services.associations.association_decided`, in its transaction."""
    context = {
        "application": request.application.name,
        "store": request.store,
        "approved": request.state == AssociationState.APPROVED,
        "permissions": [Permission(grant).label for grant in request.grants],
        "note": request.note,
        "public_url": settings.PUBLIC_URL,
    }
    if request.user_id is not None:
        subject, text = _letter("joining_decided", context)
        mail_user(user_id=request.user_id, subject=subject, text=text)
    else:
        subject, text = _letter("association_decided", context)
        mail_owners(application=request.application, subject=subject, text=text)


def _letter(name: str, context: dict[str, Any]) -> tuple[str, str]:
    """The first line is the subject; names that people chose may hold line breaks, a header may not."""
    text = render_to_string(f"applications/mails/{name}.txt", context)
    subject, _, body = text.strip().partition("\n")
    return " ".join(subject.split()), body.strip()
