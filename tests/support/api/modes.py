"""A world in which every application has a twin for tests: the same associations, the same owner."""

from accounts.callers import Caller
from accounts.models import Role
from accounts.selectors.users import subscription_keys
from applications.registration.models import Application
from applications.registration.services.applications import create_application
from tests.support.scenario import World


def add_test_application(
    world: World, name: str = "Mail Studio (test)", store: str = "associated"
) -> Application:
    """Of the user who owns the world's application, with its associations."""
    application = create_application(
        caller=Caller.on_pages(world.user), values={"Name": name, "Keys": [{}], "IsTest": True}
    )
    grants = Role.objects.filter(application=world.application, store=getattr(world, store), user=None)
    Role.objects.bulk_create(
        [Role(application=application, store=role.store, grant=role.grant) for role in grants]
    )
    world.keys[application.pk] = subscription_keys(application.subscription)["primary"]
    return application
