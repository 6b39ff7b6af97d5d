"""A user's data of all apps: handed out as a ZIP file of JSON, or forgotten."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

import accounts.services.personal_data
import applications.registration.services.personal_data
import delivery.datasets.services.personal_data
import stores.orders.services.personal_data
from accounts.models import User
from accounts.names import prepared_name
from applications.registration.services.personal_data import hand_over_applications
from fulfillment.core.audit.personal_data import PersonalData, Record
from fulfillment.core.errors import Conflict, NotFound
from stores.orders.models import ActorKind, Order
from stores.orders.models.status import TERMINAL_OR_SHIPPED
from stores.orders.services.recipients import erase_recipient
from stores.orders.services.transitions import Actor

# Of people who fit one name.
SHOWN = 5


def data_providers() -> list[PersonalData]:
    """What names the user comes last: the others look for him by it."""
    return [
        *delivery.datasets.services.personal_data.personal_data(),
        *applications.registration.services.personal_data.personal_data(),
        *stores.orders.services.personal_data.personal_data(),
        *accounts.services.personal_data.personal_data(),
    ]


def find_user(given: str) -> User:
    """By full name (`name@domain`), by an e-mail address or a name that one person has.

    Raises NotFound, and Conflict where several fit: a full name can look like the e-mail address of another person.
    """
    users = User.objects.select_related("tenant").order_by("created")
    with suppress(ValueError):
        if user := users.filter(pk=UUID(given)).first():
            return user
    name, _, domain = given.rpartition("@")
    full = (
        list(users.filter(prepared_name=prepared_name(name), tenant__domain__iexact=domain)) if name else []
    )
    other = list(users.filter(Q(email__iexact=given) | Q(prepared_name=prepared_name(given)))[:SHOWN])
    found = {user.pk: user for user in [*full, *other]}
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise NotFound(
            f"No user has the full name or e-mail address {given}; write the full name, which is the user name with "
            "the domain of the organisation (olivia@print.example), or the e-mail address.",
            code="user_not_found",
        )
    # An ID is unambiguous in every case, also where a full name equals an e-mail address.
    shown = ", ".join(
        f"{user.username}@{user.tenant.domain} (e-mail {user.email}, ID {user.pk})" for user in found.values()
    )
    raise Conflict(
        f"{given} is the full name or e-mail address of {len(found)} people: {shown}. Write "
        "the ID of the one you mean.",
        code="user_ambiguous",
    )


def export_user_data(*, user: User) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for kind in data_providers():
            info = zipfile.ZipInfo(f"{kind.name}.json", timezone.now().timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as file:
                file.writelines(_json_pieces(kind.records(user)))
    return packed.getvalue()


def _json_pieces(records: Iterable[Record]) -> Iterator[bytes]:
    """A JSON array, record by record: of somebody who did much there are millions."""
    before = b"[\n"
    for record in records:
        yield before + orjson.dumps(record, option=orjson.OPT_INDENT_2, default=str)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def erase_user(*, user: User, disable_applications: bool = False, erase_orders: bool = False) -> list[int]:
    """Forgets the person; the row stays without a name, for what points at it.

    Returns the numbers of orders that were to be erased as well and keep their recipients, being still to be sent.

    Raises Conflict for the last operator, and where an application would be left without an owner.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).select_related("tenant").get(pk=user.pk)
        others = User.objects.filter(is_operator=True, is_active=True).exclude(pk=locked.pk)
        if locked.is_operator and not others.exists():
            raise Conflict("This is the last operator; make another one first.", code="last_operator")
        hand_over_applications(user=locked, disable=disable_applications)
        for kind in data_providers():
            kind.erase(locked)
    if not erase_orders:
        return []
    placed = Order.objects.filter(user=locked)
    for order in placed.filter(status__in=TERMINAL_OR_SHIPPED).select_related("store"):
        erase_recipient(order=order, actor=Actor(ActorKind.OPERATOR))
    return list(placed.filter(recipient_erased=None).order_by("number").values_list("number", flat=True))
