"""Imports and activations carry the name of who did them."""

from typing import Any

import pgtrigger
from django.db.models import Q

from delivery.models import Dataset, ImportRun
from fulfillment.erasure import ERASED
from fulfillment.personal_data import PersonalData, Record
from fulfillment.serializers import timestamp


def personal_data() -> list[PersonalData]:
    return [PersonalData("imports", _imports, _erase), PersonalData("datasets", _datasets)]


def _imports(user: Any) -> list[Record]:
    runs = ImportRun.objects.filter(created_by=user.username).order_by("pk")
    return [{"FileName": run.file_name, "Created": timestamp(run.created)} for run in runs]


def _datasets(user: Any) -> list[Record]:
    made = Q(created_by=user.username) | Q(activated_by=user.username)
    sets = Dataset.objects.filter(made).order_by("pk")
    return [{"FileName": one.file_name, "Created": timestamp(one.created)} for one in sets]


def _erase(user: Any) -> None:
    name = user.username
    ImportRun.objects.filter(created_by=name).update(created_by=ERASED)
    events: Any = Dataset.pgh_event_model  # type: ignore[attr-defined]
    for column in ("created_by", "activated_by"):
        Dataset.objects.filter(**{column: name}).update(**{column: ERASED})
        with pgtrigger.ignore("delivery.DatasetEvent:append_only"):
            events.objects.filter(**{column: name}).update(**{column: ERASED})
