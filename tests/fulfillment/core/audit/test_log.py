"""The audit log covers every tracked model, newest first, page by page, along an index of each table."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Tenant, User
from fulfillment.core.audit.indexes import build_trail_indexes, event_models
from fulfillment.core.audit.log import AuditFilter, kind_of, read_log
from stores.catalog.models import Store
from tests.factories.orders import make_product


def test_log_has_every_event_of_every_table_once_in_the_order_of_time(world):
    total = sum(model.objects.count() for model in event_models())
    whole = read_log(AuditFilter(), limit=total + 10)
    assert len(whole) == total > 10

    places, after = [], None
    while page := read_log(AuditFilter(), limit=7, after=after):
        places += [entry.place for entry in page]
        after = page[-1].place

    assert places == [entry.place for entry in whole]
    order = [(place.when, place.kind, place.key) for place in places]
    assert order == sorted(order, reverse=True)


def test_entry_shows_the_record_before_and_after(world):
    store = world.associated
    store.company_name = "Renamed Print"
    store.save()

    entry = read_log(AuditFilter(kind="stores.store", object_id=str(store.pk)), limit=1)[0]

    assert entry.event.pgh_label == "update"
    assert (entry.former.company_name, entry.event.company_name) == ("Associated Print", "Renamed Print")


def test_rendering_of_a_product_is_not_read(world):
    product = make_product(world.associated, "card")

    entry = read_log(AuditFilter(kind="stores.product", object_id=str(product.pk)), limit=1)[0]

    assert entry.event.get_deferred_fields() == {"rendering"}


def test_log_is_filtered_by_kind_action_time_object_and_person(world):
    tenant = Tenant.objects.create(domain="one.example", name="One")
    tenant.delete()
    moment = timezone.now()

    def found(**chosen):
        return read_log(AuditFilter(**chosen), limit=500)

    assert {entry.kind for entry in found(kind="accounts.tenant")} == {"accounts.tenant"}
    assert {entry.event.pgh_label for entry in found(action="delete")} == {"delete"}
    assert found(begins=moment + timedelta(hours=1)) == found(ends=moment - timedelta(days=1)) == []
    assert {entry.event.pgh_obj_id for entry in found(object_id=str(world.associated.pk))} == {
        world.associated.pk
    }
    assert {entry.kind for entry in found(object_id=str(world.user.pk))} == {"accounts.user"}
    assert found(object_id="not-a-key") == found(users=[]) == found(users=[str(world.user.pk)]) == []
    world.as_user(world.user).call("PATCH", f"/application/{world.application.pk}", {"Description": "Other"})
    by_user = found(users=[str(world.user.pk)])
    assert [entry.kind for entry in by_user] == ["applications.application"]
    assert by_user[0].event.pgh_context.metadata["user"] == str(world.user.pk)


@pytest.mark.parametrize("chosen", [{}, {"users": ["x"]}, {"action": "update"}, {"object_id": "1"}])
def test_each_table_is_read_along_an_index(world, chosen):
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        cursor.execute("SET LOCAL enable_seqscan = off")
        read_log(AuditFilter(**chosen), limit=25)
    statement = next(query["sql"] for query in queries if "UNION ALL" in query["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    # Which index it is depends on the statistics that PostgreSQL happens to have of these small tables.
    read = set(re.findall(r"(?:Index(?: Only)? Scan .*|Bitmap Heap Scan) on (\w+)", plan))
    assert "Seq Scan" not in plan
    assert {model._meta.db_table for model in event_models()} <= read or chosen == {"object_id": "1"}


def test_every_tracked_model_has_its_index_and_a_broken_one_is_created_again(world):
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX stores_storeevent_trail")
        build_trail_indexes()
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%%_trail'")
        names = {name for (name,) in cursor.fetchall()}
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%%event_action'")
        by_action = {name for (name,) in cursor.fetchall()}
    assert {f"{model._meta.db_table}_trail" for model in event_models()} | {
        "pghistory_context_trail"
    } == names
    assert by_action == {f"{model._meta.db_table}_action" for model in event_models()}
    assert {kind_of(Store.pgh_event_model), kind_of(User.pgh_event_model)} == {
        "stores.store",
        "accounts.user",
    }
