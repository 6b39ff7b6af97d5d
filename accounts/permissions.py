"""The permissions: OAuth scopes, and grants of roles and associations."""

from collections.abc import Iterable

from django.db import models
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

# What the owners of an application have.
WRITE_GRANTS = frozenset({"Application.All.Write", "Application.Self.Write"})
DEFAULT_STORE_GRANTS = ("Store.Self.Read", "Order.Self.Read", "Order.Self.Write")
DEFAULT_APPLICATION_GRANTS = ("Application.Self.Read",)


class Permission(models.TextChoices):
    APPLICATION_ALL_READ = "Application.All.Read", _("Read every application")
    APPLICATION_SELF_READ = "Application.Self.Read", _("Read the applications you manage")
    APPLICATION_ALL_WRITE = "Application.All.Write", _("Change every application, its keys and its icon")
    APPLICATION_SELF_WRITE = (
        "Application.Self.Write",
        _("Change the applications you manage, their keys and icons"),
    )
    STORE_ALL_READ = "Store.All.Read", _("See who works with a store, and their permissions")
    STORE_SELF_READ = "Store.Self.Read", _("Read stores, their products and your own roles")
    ORDER_ALL_READ = "Order.All.Read", _("Read every order of a store")
    ORDER_SELF_READ = "Order.Self.Read", _("Read the orders you submitted")
    ORDER_ALL_WRITE = "Order.All.Write", _("Submit orders and change the status of every order of a store")
    ORDER_SELF_WRITE = "Order.Self.Write", _("Submit orders and cancel your own")
    ORDER_ALL_APPROVE = "Order.All.Approve", _("Approve or deny orders of a store that need approval")
    BUDGET_ALL_WRITE = "Budget.All.Write", _("Create and change a store's budgets")
    ACCOUNT = "Account", _("See your name and e-mail, create users and applications for you")
    OPERATOR = "Operator", _("Act as an operator of the service")


# What a role can grant: every permission but `Account` and `Operator`, which are about the user.
GRANT_CHOICES = [
    (value, format_lazy("{} ({})", label, value)) for value, label in Permission.choices if "." in value
]
GRANTS = [value for value, _label in GRANT_CHOICES]
STORE_GRANTS = frozenset(name for name in GRANTS if not name.startswith("Application."))
APPLICATION_GRANTS = frozenset(GRANTS) - STORE_GRANTS

# Descriptions of the store permissions, for requests and decisions.
EXPLANATIONS: dict[str, Promise] = {
    Permission.STORE_SELF_READ: _("To read the catalog and make proofs. Every application needs it."),
    Permission.ORDER_SELF_READ: _(
        "To follow its own orders and quotes. Needed to show customers where an order is."
    ),
    Permission.ORDER_SELF_WRITE: _(
        "To quote prices, place orders and cancel its own. Needed to sell anything."
    ),
    Permission.STORE_ALL_READ: _(
        "To see which people work with the store. Only for software that manages its staff."
    ),
    Permission.ORDER_ALL_READ: _(
        "To read orders of others as well, with their recipients. Only for reports and support."
    ),
    Permission.ORDER_ALL_WRITE: _(
        "To change the status of any order. Only for software that runs production."
    ),
    Permission.ORDER_ALL_APPROVE: _(
        "To decide for its users on orders that need approval. Only for purchasing software."
    ),
    Permission.BUDGET_ALL_WRITE: _("To create, change and adjust budgets. Only for purchasing software."),
}

# Each shows all orders of a store.
ORDER_GRANTS = (Permission.ORDER_ALL_READ, Permission.ORDER_ALL_WRITE)

EVERY_PERMISSION = frozenset(Permission.values)

DEFAULT_SCOPES = tuple(name for name in Permission.values if ".Self." in name)


def add_implied(names: Iterable[str]) -> frozenset[str]:
    """`names` with their implied permissions: each All permission includes its Self permission, if there is one."""
    held = frozenset(names)
    return held | EVERY_PERMISSION.intersection(name.replace(".All.", ".Self.") for name in held)
