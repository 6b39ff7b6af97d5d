from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import Role
from applications.registration.models import Application, Milestone
from applications.registration.services.milestones import TEST_ORDER
from fulfillment.core.plugins import OnboardingStep
from stores.orders.models import OrderTally


def steps(application: Application) -> list[OnboardingStep]:
    tallies = OrderTally.objects.filter(application=OuterRef("pk"))
    associated = Role.objects.filter(application=OuterRef("pk"), user__isnull=True, store__isnull=False)
    # Test orders are in no tally, and are removed after a time.
    tests = Milestone.objects.filter(application=OuterRef("pk"), name=TEST_ORDER)
    own = Application.objects.filter(pk=application.pk)
    has_order, has_store = own.values_list(Exists(tallies) | Exists(tests), Exists(associated)).get()
    return [
        OnboardingStep(
            60,
            _("Place a first order"),
            _("At the demo store nothing is produced or charged."),
            reverse("portal:catalog"),
            is_done=has_order,
        ),
        OnboardingStep(
            70,
            _("Get access to a store"),
            _("Request it in the directory; the store decides."),
            reverse("portal:directory"),
            is_done=has_store,
        ),
    ]
