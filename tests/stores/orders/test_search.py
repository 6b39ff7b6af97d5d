"""Orders are found by what a person knows of them: in the list, the palette, the results page and the portal."""

from datetime import timedelta

import pytest
import time_machine
from django.db import DataError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from accounts.models import Role
from stores.catalog.models import Product
from stores.catalog.services.products import save_product
from stores.orders.models import ActorKind, Order, OrderSearch
from stores.orders.selectors import search
from stores.orders.selectors.search import search_orders
from stores.orders.services.changes import Actor
from stores.orders.services.recipients import erase_recipient
from stores.orders.services.retention import rules_for_old_tests
from tests.factories.orders import RECIPIENT, make_product, order_body, product_values
from tests.support.api.modes import add_test_application

PERSON = {
    "Name": "Zoë Núñez-O'Brien",
    "Company": "Straßen & Söhne GmbH",
    "City": "São Paulo",
    "PostalCode": "80202-4512",
    "Email": "zoe.n@studio-77.example.com",
}
HOSTILE = (
    *("'", '"', ":*", "&", "|", "!", "(", ")", "<->", "\\", "%", "...", " ", "", "\x00", "#", "=s1", "'=s1'"),
    *(
        "a' | 'b",
        "zzz:*",
        "zzz & !zzz",
        "x" * 10_000,
        "zz " * 3000,
        "'" * 150,
        "\x00zzz\x00",
        "٣٤٥",
        "9" * 190,
    ),
)


@pytest.fixture
def order(world) -> Order:
    make_product(world.associated, "flyer-a5", Name="Glossy Flyer A5")
    make_product(world.associated, "postcard")
    return place(world, ExternalID="Shop-Ref 0048213", Recipient={**RECIPIENT, **PERSON})


def place(world, product="flyer-a5", application=None, **values) -> Order:
    body = order_body(Items=[{"ProductID": product, "Quantity": 100}], **values)
    response = world.as_application(application or world.application).call(
        "POST", "/store/associated/order", body
    )
    return Order.objects.get(pk=response.json()["OrderID"])


def found(text: str, **scope) -> list[Order]:
    return list(search_orders(Order.objects.order_by("-number"), text, **scope).orders)


WORDS = (
    *("zoe", "ZOË", "nunez", "Zoe Nunez", "nunez zoe", "obrien", "O'Brien", "O’BRI", "Núñ zo"),
    *("strassen", "sohne gmbh", "Straßen", "sao paulo", "SÃO", "paulo zoe flyer"),
    *("80202-4512", "80202 zoe", "802 zoe"),
    *("zoe.n@studio-77.example.com", "zoe.n@studio-77", "studio 77"),
    *("flyer", "glossy", "flyer-a5", "Glossy Flyer A5"),
    *("Shop-Ref 0048213", "shop", "0048213", "004821", "00482", "shop ref"),
)


def test_order_is_found_by_words_of_its_recipient_product_and_numbers(world, order):
    place(world, "postcard")

    assert [text for text in WORDS if found(text) != [order]] == []


def test_order_is_not_found_by_other_words_ends_of_words_or_its_street(order):
    words = ("zoe smith", "nez", "lyer", "48213", "com", "17th", "z", "0048")

    assert [text for text in words if found(text)] == []


def test_order_is_found_by_its_number_and_id(world, order):
    place(world)

    for text in (str(order.number), str(order.pk), f" {order.pk} "):
        assert found(text) == [order]
    assert order in found(str(order.number)[:-2])


def test_tracking_number_is_found_when_the_order_ships(world, order):
    parcel = {"Carrier": "UPS", "TrackingNumber": "1Z999AA10123456784"}
    path = f"/store/associated/order/{order.pk}/status"
    for body in ({"Status": 30}, {"Status": 40}, {"Status": 60, "Shipments": [parcel]}):
        assert world.as_operator().call("POST", path, body).status_code == 200

    for text in ("1Z999AA10123456784", "1z999aa101234567", "zoe 1Z999AA10123456784"):
        assert found(text) == [order]


def test_product_renamed_since_is_found_by_the_name_it_was_ordered_by(world, order):
    values = product_values("flyer-a5", Name="Matte Leaflet")
    save_product(store=world.associated, values=values, product=Product.objects.get(external_id="flyer-a5"))
    later = place(world)
    Order.objects.filter(pk=order.pk).update(external_id="changed")

    assert (found("glossy"), found("leaflet")) == ([order], [later])


def test_written_rows_are_found_however_they_are_written(order):
    Order.objects.filter(pk=order.pk).update(recipient={**RECIPIENT, "Name": "Kazimierz Łoś"})
    assert found("kazimierz los") == [order]
    assert found("zoe") == []
    Order.objects.filter(pk=order.pk).update(recipient={"Name": "王小明", "PostalCode": "SW1A 1AA"})
    assert found("王") == found("sw1a 1aa") == found("SW1A1AA") == [order]

    with connection.cursor() as cursor:
        cursor.execute("UPDATE stores_order SET external_id = 'bulk-way' WHERE id = %s", [order.pk])
    assert found("bulk way") == [order]


def test_erased_recipients_are_not_found(order):
    erase_recipient(order=order, actor=Actor(ActorKind.OPERATOR), force=True)

    for text in ("zoe", "nunez", "strassen", "paulo", "4512", "studio 77", "erased"):
        assert found(text) == []
    assert found("flyer") == [order]
    assert "nunez" not in str(OrderSearch.objects.get(pk=order.pk).words)


def test_removed_test_orders_leave_no_words(world, order):
    test = place(world, application=add_test_application(world))
    assert found("flyer") == [test, order]
    with time_machine.travel(timezone.now() + timedelta(days=400)):
        for rule in rules_for_old_tests():
            list(rule.remove(100))

    assert [words.order_id for words in OrderSearch.objects.all()] == [order.pk]


def test_hostile_words_find_nothing_on_every_page(world, order, client):
    client.force_login(world.operator)
    for text in HOSTILE:
        assert found(text) == [], text[:40]
        statuses = [
            client.get(address, {name: text}).status_code
            for address, name in (
                ("/admin/stores/order/", "q"),
                ("/admin/search/", "s"),
                (f"/applications/{world.application.pk}/orders", "q"),
            )
        ]
        # Every page refuses this character, as does the database.
        assert statuses == [400 if "\x00" in text else 200] * 3, text[:40]


def test_list_palette_and_results_find_the_same_order(world, order, client):
    client.force_login(world.operator)

    rows = client.get("/admin/stores/order/", {"q": "nunez zoe"}).context["rows"]
    palette = client.get("/admin/search/", {"s": "nunez zoe"}, headers={"Accept": "application/json"}).json()
    page = client.get("/admin/search/", {"s": "nunez zoe"}).content.decode()

    assert [row.order for row in rows] == [order]
    hit = palette["hits"][0]
    assert (hit["kind"], hit["title"]) == ("Order", str(order.number))
    assert PERSON["Name"] in hit["detail"]
    assert str(order.number) in page


def test_portal_finds_the_orders_of_the_application_alone(world, order, browser, signed_in):
    make_product(world.demo, "flyer-a5")
    body = order_body(Items=[{"ProductID": "flyer-a5", "Quantity": 100}], Recipient=order.recipient)
    other = world.as_application(world.other_application).call("POST", "/store/demo/order", body)
    assert other.status_code == 201

    page = browser.get(f"/applications/{world.application.pk}/orders", {"q": "zoe nunez"})
    assert [row["order"] for row in page.context["orders"]] == [order]

    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")
    readers = signed_in(world.outsider).get(f"/applications/{world.application.pk}/orders", {"q": "zoe"})
    assert list(readers.context["orders"]) == []


def test_staff_find_the_orders_of_their_stores_alone(world, order, client):
    client.force_login(world.user)
    assert len(client.get("/admin/stores/order/", {"q": "zoe"}).context["rows"]) == 1

    Order.objects.filter(pk=order.pk).update(store=world.unassociated)

    for text in ("zoe", "flyer", str(order.number), str(order.pk)):
        assert list(client.get("/admin/stores/order/", {"q": text}).context["rows"]) == []
    assert found("zoe", stores=[world.associated.pk]) == []
    assert found("zoe", stores=[world.associated.pk, world.unassociated.pk]) == [order]
    assert found("zoe", application=world.other_application.pk) == []


def test_filters_of_the_list_stay_with_a_search(world, order, client):
    client.force_login(world.operator)

    held = client.get("/admin/stores/order/", {"q": "zoe", "status__exact": "20"})
    received = client.get("/admin/stores/order/", {"q": "zoe", "status__exact": "10"})

    assert [len(page.context["rows"]) for page in (held, received)] == [0, 1]


def test_of_common_words_the_newest_orders_are_found(world, order, client, monkeypatch):
    newer = [place(world) for _ in range(3)]
    monkeypatch.setattr(search, "MAX_FOUND", 2)
    monkeypatch.setattr(search, "MAX_NEWEST", 2)

    assert found("flyer") == [newer[2], newer[1]]
    assert found("flyer zoe") == [order]
    oldest = search_orders(Order.objects.order_by("number"), "flyer")
    assert list(oldest.orders) == [newer[1], newer[2]]
    assert oldest.is_cut

    client.force_login(world.operator)
    assert "The newest" in client.get("/admin/stores/order/", {"q": "flyer"}).content.decode()
    assert "The newest" not in client.get("/admin/stores/order/", {"q": "zoe"}).content.decode()


def test_newest_orders_of_common_words_are_found_without_a_list_of_all(world, order, monkeypatch):
    """The index would list each of a million orders first."""
    newer = [place(world) for _ in range(3)]
    for name, value in (("COMMON", 0), ("MAX_NEWEST", 2), ("FOUND", "SELECT 1 / 0, %s::text, %s::int")):
        monkeypatch.setattr(search, name, value)

    assert found("flyer") == [newer[2], newer[1]]
    assert search_orders(Order.objects.order_by("-number"), "flyer").is_cut
    with pytest.raises(DataError), transaction.atomic():
        found("zoe")
    for name, value in (("RECENT", 2), ("COMMON", 12_000)):
        monkeypatch.setattr(search, name, value)
        with pytest.raises(DataError), transaction.atomic():
            found("flyer")


def test_rare_words_are_found_along_the_index_in_spite_of_statistics(world, order, client):
    """The table is small enough that PostgreSQL would rather read all of it."""
    client.force_login(world.operator)
    scans = "SELECT pg_stat_get_xact_numscans('order_search_words'::regclass)"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_get_xact_numscans('stores_ordersearch'::regclass)")
        tables_before = cursor.fetchone()
        cursor.execute(scans)
        before = cursor.fetchone()[0]
        page = client.get("/admin/stores/order/", {"q": "nunez zoe"})
        cursor.execute(scans)
        assert cursor.fetchone()[0] > before
        cursor.execute("SELECT pg_stat_get_xact_numscans('stores_ordersearch'::regclass)")
        assert cursor.fetchone() == tables_before, "the table was read from its beginning"
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT order_id FROM stores_ordersearch WHERE words @@ '''zoe'':*'::tsquery")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert [row.order for row in page.context["rows"]] == [order]
    assert "Bitmap Index Scan on order_search_words" in plan


def test_orders_stored_before_the_search_existed_are_found(order, monkeypatch):
    """The migration fills its table in batches, and may be run again after a crash."""
    migration = MigrationLoader(connection).get_migration("stores", "0027_fill_order_search")
    fill = migration.operations[0].code
    monkeypatch.setitem(fill.__globals__, "BATCH", 1)
    OrderSearch.objects.all().delete()

    with connection.schema_editor() as editor:
        fill(None, editor)
        fill(None, editor)

    assert found("nunez flyer 0048213") == [order]


def test_second_role_may_write_orders_while_the_migrations_run(db):
    """Before `prepare` grants it everything, at its end."""
    migration = MigrationLoader(connection).get_migration("stores", "0026_order_search")
    (grant,) = [
        operation.sql for operation in migration.operations if "GRANT" in getattr(operation, "sql", "")
    ]
    privileges = "SELECT has_table_privilege('search_writer', 'stores_ordersearch', %s)"
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE search_writer")
        cursor.execute("GRANT UPDATE ON stores_order TO search_writer")
        cursor.execute(grant)
        for action in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            cursor.execute(privileges, [action])
            assert cursor.fetchone() == (True,)
