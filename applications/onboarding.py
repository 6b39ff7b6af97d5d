"""The first steps on an application's checklist."""

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _
from oauth2_provider.models import get_access_token_model

from applications.registration.models import Application, Milestone
from applications.registration.services.milestones import CALLED, EVENTS, PROOF, READ
from applications.webhooks.models import Webhook
from fulfillment.core.plugins import OnboardingStep


def steps(application: Application) -> list[OnboardingStep]:
    progress = _read_progress(application)
    try_it = reverse("portal:application-try", args=[application.pk])
    webhooks = reverse("portal:application-webhooks", args=[application.pk])
    return [
        OnboardingStep(
            10, _("Create the application"), _("It has a client ID and a subscription key."), "", is_done=True
        ),
        OnboardingStep(
            20,
            _("Get a first token"),
            _("Paste the lines into a terminal."),
            f"{try_it}?fill",
            is_done=progress["has_token"] or progress["has_called"],
        ),
        OnboardingStep(
            30,
            _("Read a store's products"),
            _("The demo store is open to every application. Counted within seconds."),
            f"{try_it}?fill",
            is_done=progress["has_read"],
        ),
        OnboardingStep(
            40,
            _("Make a first proof"),
            _("Fill in a product of the demo store in the catalog, or with the API."),
            reverse("portal:catalog"),
            is_done=progress["has_proof"],
        ),
        OnboardingStep(
            50,
            _("Receive a first event"),
            _("Add a webhook, or forward events to your own machine with the command."),
            webhooks,
            is_done=progress["has_webhook"] or progress["has_events"],
        ),
    ]


def _read_progress(application: Application) -> dict[str, bool]:
    """Reads what the application has done, in one query. Calls count as well as tokens, because tokens are removed."""
    reached = Milestone.objects.filter(application=OuterRef("pk"))
    tokens = get_access_token_model().objects.filter(application=OuterRef("pk"))
    progress = Application.objects.filter(pk=application.pk).values(
        has_token=Exists(tokens),
        has_called=Exists(reached.filter(name=CALLED)),
        has_read=Exists(reached.filter(name=READ)),
        has_proof=Exists(reached.filter(name=PROOF)),
        has_webhook=Exists(Webhook.objects.filter(application=OuterRef("pk"))),
        has_events=Exists(reached.filter(name=EVENTS)),
    )
    return progress.get()
