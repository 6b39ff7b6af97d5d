from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts.models import Tenant, User
from accounts.names import prepared_name
from accounts.services.subscriptions import create_subscription
from fulfillment.errors import Fault, Invalid

# Where each model field stands in what a caller sent.
POINTERS = {
    "username": "/Username",
    "first_name": "/FirstName",
    "last_name": "/LastName",
    "email": "/Email",
    "phone": "/Phone",
}


@transaction.atomic
def create_user(
    *,
    tenant: Tenant,
    username: str,
    first_name: str,
    last_name: str,
    email: str,
    password: str,
    phone: str = "",
    time_zone: str = "UTC",
    is_operator: bool = False,
) -> User:
    """Creates the user with a subscription; raises Invalid naming each wrong field, also a name that is taken."""
    user = User(
        tenant=tenant,
        username=username,
        first_name=first_name,
        last_name=last_name,
        email=email,
        phone=phone,
        time_zone=time_zone,
        is_operator=is_operator,
    )
    faults = [*field_faults(user), *password_faults(password, user)]
    if faults:
        raise Invalid(faults[0].message if len(faults) == 1 else "The user cannot be created.", faults=faults)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise username_taken(username) from error
    create_subscription(user=user)
    return user


@transaction.atomic
def change_profile(*, user: User, first_name: str, last_name: str, phone: str, time_zone: str) -> User:
    user.first_name, user.last_name, user.phone, user.time_zone = first_name, last_name, phone, time_zone
    # The name stays: one that was given before today's rules must not be in the way.
    faults = [fault for fault in field_faults(user) if fault.pointer != POINTERS["username"]]
    if faults:
        raise Invalid("The profile cannot be saved.", faults=faults)
    user.save(update_fields=["first_name", "last_name", "phone", "time_zone", "updated"])
    return user


def is_name_taken(*, tenant: Tenant, username: str, by_other_than: User) -> bool:
    """Whether another user of the tenant has the name, however either is written."""
    others = User.objects.filter(tenant=tenant, prepared_name=prepared_name(username))
    return others.exclude(pk=by_other_than.pk).exists()


def username_taken(username: str) -> Invalid:
    message = f"A user with the username {username!r} already exists."
    return Invalid(message, code="username_taken", faults=[Fault("/Username", "username_taken", message)])


def password_faults(password: str, user: User | None = None) -> list[Fault]:
    """What the configured validators say against a password."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        return [
            Fault("/Password", reason.code or "password_invalid", " ".join(reason.messages))
            for reason in error.error_list
        ]
    return []


def field_faults(user: User) -> list[Fault]:
    try:
        user.full_clean(exclude=["password", "tenant"], validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        return [
            Fault(POINTERS.get(field, f"/{field}"), reason.code or "invalid", " ".join(reason.messages))
            for field, reasons in error.error_dict.items()
            for reason in reasons
        ]
    return []
