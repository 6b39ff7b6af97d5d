from typing import Any

from django.db.models import Exists, OuterRef, Q

from accounts.models import Role
from applications.registration.models import Application

MAX_STORES = 500


def store_names(application: Application) -> dict[str, str]:
    """The stores that the application may use by their IDs, the demo store among them; at most 500."""
    # By the reference of the role: stores are above applications.
    stores: Any = Role._meta.get_field("store").related_model
    own = Role.objects.filter(application=application, user__isnull=True, store=OuterRef("pk"))
    found = stores.objects.filter(Q(is_demo=True) | Exists(own)).order_by("company_name", "pk")
    return dict(found.values_list("external_id", "company_name")[:MAX_STORES])
