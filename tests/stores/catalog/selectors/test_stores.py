"""Who sees which store and which products: the whole matrix of relations."""

import pytest

from accounts.callers import Caller
from accounts.models import Role
from fulfillment.core.errors import Forbidden
from stores.catalog.selectors.products import product_list_body
from stores.catalog.selectors.stores import StoreNotVisible, store_body
from tests.factories.stores import make_store

# relation: (sees the store, reads its products), for each kind of caller
KINDS = ("application", "user", "user through the application", "operator")
NOTHING = dict.fromkeys(KINDS[:3], (False, False)) | {"operator": (True, True)}
MATRIX = {
    "none": NOTHING,
    "association": {**NOTHING, "application": (True, True), "user through the application": (False, True)},
    "role": {**NOTHING, "user": (True, True)},
    "role and association": dict.fromkeys(KINDS, (True, True)),
    "store grant over everything": {**NOTHING, "user": (True, True)},
    "application grant over everything": NOTHING,
    "role of another": NOTHING,
    "association of another": NOTHING,
    "demo": dict.fromkeys(KINDS, (True, True)),
}


def relate(world, store, relation):
    roles = {
        "association": [Role(application=world.application, store=store, grant="Order.Self.Read")],
        "role": [Role(user=world.outsider, store=store, grant="Order.Self.Write")],
        "store grant over everything": [Role(user=world.outsider, grant="Store.All.Read")],
        "application grant over everything": [Role(user=world.outsider, grant="Application.All.Write")],
        "role of another": [Role(user=world.user, store=store, grant="Store.All.Read")],
        "association of another": [
            Role(application=world.other_application, store=store, grant="Store.All.Read")
        ],
    }
    roles["role and association"] = [*roles["role"], *roles["association"]]
    Role.objects.bulk_create(roles.get(relation, []))


def callers(world):
    person = {"user_id": world.outsider.pk, "tenant_id": world.tenant.pk}
    console = {"application_id": world.console.pk, "is_first_party": True}
    return {
        "application": Caller(application_id=world.application.pk),
        "user": Caller(**person, **console),
        "user through the application": Caller(**person, application_id=world.application.pk),
        "operator": Caller(
            user_id=world.operator.pk, is_operator_user=True, scopes=frozenset({"Operator"}), **console
        ),
    }


def opens(read, *args, **options):
    try:
        return bool(read(*args, **options))
    except (StoreNotVisible, Forbidden):
        return False


@pytest.mark.parametrize("relation", MATRIX)
def test_visibility(world, relation):
    type(world.demo).objects.filter(is_demo=True).delete()
    store = make_store(IsDemo=relation == "demo")
    relate(world, store, relation)

    found = {
        kind: (
            opens(store_body, caller, store.external_id),
            opens(product_list_body, caller, store.external_id, verbose=False),
        )
        for kind, caller in callers(world).items()
    }

    assert found == MATRIX[relation]


def test_caller_without_anything_sees_nothing(world):
    assert not opens(store_body, Caller(), world.associated.external_id)
    assert not opens(product_list_body, Caller(), world.associated.external_id, verbose=False)
