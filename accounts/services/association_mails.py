"""Informs operators of association requests: one mail for each, sent by a worker."""

from collections import Counter
from datetime import timedelta

from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.mail import send_letter
from accounts.models import AssociationRequest, AssociationState, User
from accounts.selectors.associations import operators_to_inform

APPLICANT = ("requested_by_id", "application_id")
REQUEST_TASK = "accounts.mail_association_request"
# More than these in an hour are seen in the console alone. Of one applicant only so many count: one must neither fill
# the mailboxes nor keep the requests of others out of them.
MAILED_PER_HOUR, MAILED_PER_APPLICANT = 20, 5


def inform_operators(request: AssociationRequest) -> None:
    """Queues the mails in the transaction that writes the request."""
    lately = AssociationRequest.objects.filter(created__gt=timezone.now() - timedelta(hours=1))
    # The user, or the application where it acts on its own.
    applicants = Counter(user or application for user, application in lately.values_list(*APPLICANT))
    own = applicants[request.requested_by_id or request.application_id]
    mailed = sum(min(count, MAILED_PER_APPLICANT) for count in applicants.values())
    if own > MAILED_PER_APPLICANT or mailed > MAILED_PER_HOUR:
        return
    task = app.configure_task(REQUEST_TASK)
    for operator in operators_to_inform():
        task.defer(request_id=str(request.pk), user_id=str(operator.pk))


def send_association_mail(*, request_id: str, user_id: str) -> None:
    """Sends the mail unless the request was decided in the meantime."""
    requests = AssociationRequest.objects.select_related("application", "store", "user", "requested_by")
    association_request = requests.filter(pk=request_id, state=AssociationState.PENDING).first()
    operator = User.objects.filter(pk=user_id, is_operator=True, is_active=True).exclude(email="").first()
    if association_request is not None and operator is not None:
        send_letter(
            "accounts/mails/association_request.txt",
            operator.email,
            {"association_request": association_request},
        )
