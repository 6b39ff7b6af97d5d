import pytest

from stores.orders.selectors.access import StoreAccess
from tests.factories.budgets import enable_budgets
from tests.support.batches.batches import access_to
from tests.support.scenario import World


@pytest.fixture
def access(world: World) -> StoreAccess:
    return access_to(world)


@pytest.fixture
def budgeted(access: StoreAccess) -> StoreAccess:
    enable_budgets(access.store)
    access.store.refresh_from_db()
    return access
