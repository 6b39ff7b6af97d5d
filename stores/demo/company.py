"""A company that orders at a demo store: people in cost centers with budgets, and an approver."""

import secrets
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction

from accounts.callers import Caller
from accounts.demo import USER
from accounts.models import Role, Tenant, User
from accounts.permissions import DEFAULT_STORE_GRANTS, Permission
from accounts.services.users import create_user
from stores.budgets.models import CostCenter, CostCenterMember
from stores.budgets.services.budgets import create_budget
from stores.catalog.models import Store

DOMAIN, NAME = "northfield.example", "Northfield Partners"
APPROVER = ("nora", "Nora", "Albrecht")
MARKETING, SALES = ("4100", "Marketing"), ("4200", "Sales")
# User name, first and last name, cost center.
PEOPLE = (
    ("lena", "Lena", "Fuchs", MARKETING),
    ("marco", "Marco", "Ruiz", MARKETING),
    ("aisha", "Aisha", "Bello", SALES),
    ("tom", "Tom", "Becker", SALES),
)
# Long enough ago that the orders of the story stand in the present period.
STARTED = timedelta(days=25)
BUDGETS: tuple[dict[str, Any], ...] = (
    {
        "Name": "Marketing",
        "Scope": {"Kind": "CostCenter", "ID": MARKETING[0]},
        "Type": "Amount",
        "Limit": Decimal(260),
        "Duration": "Monthly",
    },
    {
        "Name": "Marco",
        "Scope": {"Kind": "User", "ID": "marco"},
        "Type": "Amount",
        "Limit": Decimal(100),
        "Duration": "Monthly",
        "OverBudget": "Approve",
    },
    {
        "Name": "Uma",
        "Scope": {"Kind": "User", "ID": USER.username},
        "Type": "Amount",
        "Limit": Decimal(50),
        "Duration": "Monthly",
        "OverBudget": "Approve",
    },
    {
        "Name": "Orders of Sales",
        "Scope": {"Kind": "CostCenter", "ID": SALES[0]},
        "Type": "Orders",
        "Limit": Decimal(20),
        "Duration": "Quarterly",
        "OverBudget": "Warn",
    },
)


@transaction.atomic
def load_company(store: Store, *, salesperson: User, now: datetime) -> dict[str, Caller]:
    """The callers of its people by user name. `salesperson` is a person of the demo who can sign in.

    A start that was interrupted before the orders finds the company as it is.
    """
    tenant, is_new = Tenant.objects.get_or_create(domain=DOMAIN, defaults={"name": NAME})
    if is_new:
        _create_company(tenant, store, salesperson, now)
    return {person.username: Caller.on_pages(person) for person in (*tenant.users.all(), salesperson)}


def _create_company(tenant: Tenant, store: Store, salesperson: User, now: datetime) -> None:
    approver = create_person(tenant, *APPROVER)
    Role.objects.create(user=approver, store=store, grant=Permission.ORDER_ALL_APPROVE)
    centers = {
        (code, name): CostCenter.objects.create(store=store, code=code, name=name)
        for code, name in (MARKETING, SALES)
    }
    people = {
        username: (create_person(tenant, username, *names), center) for username, *names, center in PEOPLE
    }
    for person, _ in people.values():
        Role.objects.bulk_create(
            Role(user=person, store=store, grant=grant) for grant in DEFAULT_STORE_GRANTS
        )
    for person, center in (*people.values(), (salesperson, SALES)):
        CostCenterMember.objects.create(cost_center=centers[center], store=store, user=person)
    ids = {
        person.username: str(person.pk)
        for person in (*(employee for employee, _ in people.values()), salesperson)
    }
    first_day = store.local_date(now - STARTED)
    for values in BUDGETS:
        scope = {**values["Scope"], "ID": ids.get(values["Scope"]["ID"], values["Scope"]["ID"])}
        create_budget(store=store, values={**values, "Scope": scope, "StartDate": first_day})


def create_person(
    tenant: Tenant, username: str, first_name: str, last_name: str, domain: str = DOMAIN
) -> User:
    """Creates a person with a random password that is not stored, so only a password reset opens the account."""
    return create_user(
        tenant=tenant,
        username=username,
        first_name=first_name,
        last_name=last_name,
        email=f"{username}@{domain}",
        password=secrets.token_urlsafe(24),
        email_is_confirmed=True,
    )
