"""Personal data in imports and activations: the user name of the operator.

User names are unique only within a tenant, and only operators import, so other users of that name are not affected.
"""

from typing import Any

import pgtrigger
from django.db.models import Q

from delivery.datasets.models import Dataset, ImportRun
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.erasure import ERASED
from fulfillment.core.audit.events import event_model
from fulfillment.core.audit.personal_data import PersonalData, Record


def personal_data() -> list[PersonalData]:
    return [PersonalData("imports", _imports, _erase), PersonalData("datasets", _datasets)]


def _imports(user: Any) -> list[Record]:
    runs = ImportRun.objects.filter(created_by__in=_names(user)).order_by("pk")
    return [{"FileName": run.file_name, "Created": timestamp(run.created)} for run in runs]


def _datasets(user: Any) -> list[Record]:
    names = _names(user)
    made = Dataset.objects.filter(Q(created_by__in=names) | Q(activated_by__in=names))
    return [{"FileName": one.file_name, "Created": timestamp(one.created)} for one in made.order_by("pk")]


def _erase(user: Any) -> None:
    names = _names(user)
    ImportRun.objects.filter(created_by__in=names).update(created_by=ERASED)
    events = event_model(Dataset)
    for column in ("created_by", "activated_by"):
        Dataset.objects.filter(**{f"{column}__in": names}).update(**{column: ERASED})
        with pgtrigger.ignore("delivery.DatasetEvent:append_only"):
            events.objects.filter(**{f"{column}__in": names}).update(**{column: ERASED})


def _names(user: Any) -> list[str]:
    """The user names the person had as an operator."""
    events = user.pgh_event_model.objects.filter(pgh_obj_id=user.pk, is_operator=True)
    names = {*events.values_list("username", flat=True), *([user.username] if user.is_operator else ())}
    return sorted(names - {ERASED})
