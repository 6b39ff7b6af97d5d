from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from applications.registration.models import Application, ApplicationKey

SOON = timedelta(days=14)


def applications_with_ending_keys() -> QuerySet[Application]:
    """Enabled applications whose valid keys all end within two weeks."""
    now = timezone.now()
    keys = ApplicationKey.objects.filter(application=OuterRef("pk"))
    return Application.objects.filter(
        Exists(keys.filter(start_date__lte=now, end_date__gt=now, end_date__lte=now + SOON)),
        ~Exists(keys.filter(end_date__gt=now + SOON)),
        is_enabled=True,
    ).order_by("name", "pk")
