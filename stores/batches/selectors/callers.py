"""Who made and who ordered a batch, and whether they may still order."""

from dataclasses import replace
from uuid import UUID

from accounts.callers import Caller
from accounts.models import User
from accounts.selectors.grants import grants_on_store
from applications.registration.models import Application
from stores.batches.models import Batch
from stores.catalog.models import Store
from stores.orders.selectors.access import WRITE, StoreAccess
from stores.orders.selectors.approvals import people_behind, people_who_ordered


def caller_of(batch: Batch) -> Caller:
    """The caller who made the batch, for the worker: its rows see that caller's pictures."""
    person = batch.user or (batch.application and batch.application.user)
    return Caller(
        user_id=batch.user_id,
        application_id=batch.application_id,
        is_first_party=batch.is_first_party,
        is_test=batch.is_test,
        person_id=person and person.responsible_id,
    )


def may_still_order(batch: Batch) -> bool:
    """Whether the user or application that ordered the batch may still order in its store; where an application did so
    on its own, also the user who made it, in whose name the orders are.
    """
    user_id = batch.actor_user or batch.user_id
    user = User.objects.filter(pk=user_id, is_active=True).first() if user_id else None
    if user_id and user is None:
        return False
    on_pages = batch.is_first_party or user_id != batch.user_id
    if user and on_pages and batch.actor_application is None:
        return _may_order(Caller.on_pages(user), batch.store)
    application_id = batch.actor_application or batch.application_id
    application = Application.objects.filter(pk=application_id, is_enabled=True).first()
    if application is None:
        return False
    return _may_order(replace(Caller.of_application(application), user_id=user_id), batch.store)


def people_of_batch(batch: Batch) -> set[UUID]:
    """Who made and who ordered it, each with the owners of the application."""
    application = Application.objects.filter(pk=batch.actor_application).first()
    people = people_who_ordered(batch) | people_behind(application)
    return people | {batch.actor_user} if batch.actor_user else people


def _may_order(caller: Caller, store: Store) -> bool:
    return not grants_on_store(caller, store).isdisjoint(WRITE)


def access_of(batch: Batch) -> StoreAccess:
    return StoreAccess(batch.store, caller_of(batch), sees_all_orders=False)
