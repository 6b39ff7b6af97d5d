"""The API's records of applications and keys."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from accounts.callers import Caller
from accounts.models import Role
from accounts.selectors.grants import grants_on_application
from applications.registration.models import Application, ApplicationIcon, ApplicationKey
from applications.registration.selectors.applications import writable_application_ids
from fulfillment.core.api.serializers import meta, timestamp
from fulfillment.core.secrets import decrypt, masked


def application_records(
    caller: Caller, applications: Sequence[Application], *, verbose: bool = False
) -> list[dict[str, Any]]:
    """Records in the order given, with a fixed number of queries."""
    writable = writable_application_ids(caller, list(applications))
    keys: dict[Any, list[ApplicationKey]] = defaultdict(list)
    for key in ApplicationKey.objects.filter(application__in=applications).order_by("created", "pk"):
        keys[key.application_id].append(key)
    records = [
        application_record(application, keys[application.pk], in_full=application.pk in writable)
        for application in applications
    ]
    if verbose:
        _add_verbose(caller, applications, records)
    return records


def application_record(
    application: Application, keys: Sequence[ApplicationKey], *, in_full: bool
) -> dict[str, Any]:
    return {
        "ID": str(application.pk),
        "External_ID": application.client_id,
        "Name": application.name,
        "Description": application.description,
        "ApplicationURL": application.application_url,
        "Created": timestamp(application.created),
        "Updated": timestamp(application.updated),
        "IsEnabled": application.is_enabled,
        "SupportUrl": application.support_url,
        "SupportPhone": application.support_phone,
        "SupportEmail": application.support_email,
        "ImplicitFlowAllowed": application.implicit_flow_allowed,
        "Keys": [key_record(key, in_full=in_full) for key in keys],
        "ReplyUrls": application.reply_urls,
        "_meta": meta(),
    }


def key_record(key: ApplicationKey, *, in_full: bool) -> dict[str, Any]:
    value = decrypt(key.ciphertext)
    return {
        "ID": str(key.pk),
        "StartDate": timestamp(key.start_date),
        "EndDate": timestamp(key.end_date),
        "Value": value if in_full else masked(value),
        "_meta": meta(),
    }


def icon_url(sha256: str) -> str:
    return f"{settings.PUBLIC_URL}/icons/{sha256}.png"


def _add_verbose(caller: Caller, applications: Sequence[Application], records: list[dict[str, Any]]) -> None:
    icons = dict(
        ApplicationIcon.objects.filter(application__in=applications).values_list("application", "sha256")
    )
    stores: dict[Any, list[str]] = defaultdict(list)
    associations = Role.objects.filter(application__in=applications, user__isnull=True, store__isnull=False)
    for application_id, store_id in associations.values_list("application", "store__external_id").distinct():
        stores[application_id].append(store_id)
    for application, record in zip(applications, records, strict=True):
        sha256 = icons.get(application.pk)
        record["IsTest"] = application.is_test
        record["OwnerID"] = str(application.user_id) if application.user_id else None
        record["StoreIDs"] = sorted(stores[application.pk])
        record["IconURL"] = icon_url(sha256) if sha256 else None
        record["Grants"] = sorted(grants_on_application(caller, application.pk))
