"""Which applications a caller may see, change or act as, and their records in the API."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller, in_mode
from accounts.models import Role, User
from accounts.permissions import APPLICATION_GRANTS, WRITE_GRANTS
from accounts.selectors.grants import grants_on_application
from applications.registration.models import Application, ApplicationIcon, ApplicationKey
from fulfillment.core.errors import Forbidden, NotFound
from fulfillment.core.secrets import decrypt, mask_secret
from fulfillment.core.text import meta, timestamp

# The most applications in the list of callers of the API reference.
MAX_OFFERED = 100
MAX_STORES = 500
SOON = timedelta(days=14)
MYSELF = "me"
# What tells whose limits hold.
OF_OWNER = ("user__email_confirmed", "user__counted_on")


def applications_for(caller: Caller, *, application_id: UUID | None = None) -> QuerySet[Application]:
    """The applications a caller can see: an application itself, a user those with any relationship.

    Through an application of one mode, only applications of that mode. With `application_id` at most that one, in one
    query.
    """
    applications = Application.objects.filter(in_mode(caller)).order_by("created", "pk")
    if application_id is not None:
        applications = applications.filter(pk=application_id)
    if caller.is_application:
        return applications.filter(pk=caller.application_id)
    if caller.is_operator:
        return applications
    if caller.third_party_id is not None and caller.scopes.isdisjoint(APPLICATION_GRANTS):
        # The user has not consented to show this application the other ones.
        applications = applications.filter(pk=caller.third_party_id)
    roles = Role.objects.filter(user=caller.user_id)
    of_all = roles.filter(application__isnull=True, store__isnull=True, grant__startswith="Application.All.")
    own = Q(pk__in=roles.filter(application__isnull=False).values("application")) | Q(user=caller.user_id)
    if application_id is not None:
        return applications.filter(own | Exists(of_all))
    # PostgreSQL uses an index for the list only without this condition.
    return applications if of_all.exists() else applications.filter(own)


def own_applications(user: User) -> QuerySet[Application]:
    """Applications whose keys the user can read, without disabled and built-in ones."""
    writing_roles = Role.objects.filter(user=user, store__isnull=True, grant__in=WRITE_GRANTS)
    return Application.objects.filter(
        pk__in=writing_roles.values("application"), is_enabled=True, is_first_party=False
    ).order_by("created", "pk")


def first_store_id(application: Application) -> str | None:
    """The ID of the store that the application has been associated with the longest."""
    associations = Role.objects.filter(application=application, user__isnull=True, store__isnull=False)
    return associations.order_by("pk").values_list("store__external_id", flat=True).first()


def select_icons(applications: QuerySet[Application]) -> QuerySet[Application]:
    """Loads the icons' names without their bytes."""
    return applications.select_related("icon").defer("icon__image", "icon__central_image")


def find_application(application_id: str) -> Application:
    """Finds an application by internal or external ID, which never look alike."""
    try:
        lookup: dict[str, Any] = {"pk": UUID(application_id)}
    except ValueError:
        lookup = {"client_id": application_id}
    try:
        return select_icons(Application.objects.all()).get(**lookup)
    except Application.DoesNotExist as error:
        raise application_unknown() from error


def application_unknown() -> NotFound:
    return NotFound(_("There is no application with this ID."), code="application_not_found")


def application_in_mode(caller: Caller, application_id: str) -> Application:
    """An application of the caller's mode; no relationship is needed. Raises NotFound for the other mode."""
    application = find_application(application_id)
    if application.is_test not in caller.modes:
        raise application_unknown()
    return application


def application_for(caller: Caller, application_id: str) -> Application:
    """Raises NotFound for an unknown application and one of the other mode, Forbidden without a relationship."""
    application = application_in_mode(caller, application_id)
    if not applications_for(caller, application_id=application.pk).exists():
        raise Forbidden(
            _(
                "You have no relationship with this application. Ask for one with POST "
                '/api/v1/association and {"ApplicationID": "%(pk)s"}, or on the Applications page.'
            )
            % {"pk": application.pk},
            code="association_required",
        )
    return application


def application_to_write(caller: Caller, application_id: str) -> Application:
    application = application_for(caller, application_id)
    if not may_write(caller, application):
        raise Forbidden(
            _(
                "You may not change this application. You need the grant Application.Self.Write on it, or "
                "Application.All.Write."
            ),
            code="grant_missing",
        )
    return application


def may_write(caller: Caller, application: Application) -> bool:
    return not WRITE_GRANTS.isdisjoint(grants_on_application(caller, application.pk))


def writable_application_ids(caller: Caller, applications: list[Application]) -> set[Any]:
    """The IDs among these that the caller may write, in one query for any number."""
    if caller.is_operator:
        return {application.pk for application in applications}
    if caller.is_application or caller.scopes.isdisjoint(WRITE_GRANTS):
        return set()
    roles = set(
        Role.objects.filter(user=caller.user_id, store__isnull=True, grant__in=WRITE_GRANTS).values_list(
            "application", flat=True
        )
    )
    if None in roles:
        roles |= {application.pk for application in applications}
    return roles if caller.third_party_id is None else roles & {caller.third_party_id}


def applications_to_call_as(user_id: Any) -> list[Application]:
    """The enabled applications that this user may change themselves, by name: those whose keys are theirs to use."""
    writing_roles = Role.objects.filter(
        user=user_id, application__isnull=False, store__isnull=True, grant__in=WRITE_GRANTS
    )
    own = Application.objects.filter(pk__in=writing_roles.values("application"), is_enabled=True)
    return list(select_icons(own).order_by("name", "pk")[:MAX_OFFERED])


def applications_with_ending_keys() -> QuerySet[Application]:
    """Enabled applications whose valid keys all end within two weeks."""
    now = timezone.now()
    keys = ApplicationKey.objects.filter(application=OuterRef("pk"))
    return Application.objects.filter(
        Exists(keys.filter(start_date__lte=now, end_date__gt=now, end_date__lte=now + SOON)),
        ~Exists(keys.filter(end_date__gt=now + SOON)),
        is_enabled=True,
    ).order_by("name", "pk")


def store_names(application: Application) -> dict[str, str]:
    """The stores that the application may use by their IDs, the demo store among them; at most 500."""
    # By the reference of the role: stores are above applications.
    stores: Any = Role._meta.get_field("store").related_model
    own = Role.objects.filter(application=application, user__isnull=True, store=OuterRef("pk"))
    own_stores = stores.objects.filter(Q(is_demo=True) | Exists(own)).order_by("company_name", "pk")
    return dict(own_stores.values_list("external_id", "company_name")[:MAX_STORES])


@dataclass(frozen=True, slots=True)
class Requester:
    """The caller as whom a person sends requests on a page; `key` names it in URLs. It owns what it makes."""

    key: str
    name: str
    caller: Caller


def actors_of(user: User, applications: QuerySet[Application] | None = None) -> list[Requester]:
    """The user first, then the applications: all of the user's own unless some of them are given."""
    actors = own_applications(user) if applications is None else applications
    return [
        Requester(MYSELF, _("Myself"), Caller.on_pages(user)),
        *(
            Requester(str(application.pk), application.name, Caller.of_application(application))
            for application in actors.select_related("user").only("name", "is_test", *OF_OWNER)
        ),
    ]


def chosen_actor(actors: list[Requester], key: str) -> Requester:
    return next((actor for actor in actors if actor.key == key), actors[0])


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
        "Value": value if in_full else mask_secret(value),
        "_meta": meta(),
    }


def icon_url(sha256: str) -> str:
    return f"{settings.PUBLIC_URL}/icons/{sha256}.png"


def icon_content(sha256: str, *, is_central: bool) -> bytes | None:
    column = "central_image" if is_central else "image"
    content = ApplicationIcon.objects.filter(sha256=sha256).values_list(column, flat=True).first()
    return None if content is None else bytes(content)


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
