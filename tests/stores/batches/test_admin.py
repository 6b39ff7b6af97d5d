"""Batches in the console: staff see those of their stores, and approvers decide on them."""

import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stores.batches.services.approvals import approve_batch
from stores.batches.services.batches import cancel_batch
from stores.batches.services.ordering import ORDER_TASK
from stores.batches.services.rows import replace_rows
from stores.catalog.models import Store
from tests.factories.orders import order_body
from tests.support.batches.batches import (
    access_to,
    approver,
    checked,
    fresh,
    make_batch,
    ordered,
    person,
    source_of,
)
from tests.support.orders.approvals import add_approver
from tests.support.orders.shop import Shop, open_shop
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(world):
    Store.objects.filter(pk=world.associated.pk).update(approval_above=0)
    world.batch = ordered(checked(make_batch(access_to(world), [person(1)])))
    return f"/admin/stores/batch/{world.batch.pk}"


def test_approver_denies_a_batch_with_a_reason(world, address, signed_in):
    approver = signed_in(add_approver(Shop(world)))

    other = make_batch(access_to(world), product_id="card-two-sided")
    assert approver.get(f"/admin/stores/batch/{other.pk}/change/").status_code == 404
    page = approver.get(f"{address}/change/").content.decode()
    silent = approver.post(f"{address}/decide/", {"decision": "deny"}, follow=True).content.decode()
    approver.post(f"{address}/decide/", {"decision": "deny", "note": "Too many"})

    assert "All rows 1" in page
    assert "A denial needs a reason" in silent
    batch = fresh(world.batch)
    assert (batch.status, batch.approval.state, batch.note) == ("Cancelled", "Denied", "Too many")
    assert approver.post(f"{address}/cancel/").status_code == 404


def test_batch_is_approved_and_cancelled_only_by_staff_who_may(world, address, signed_in):
    staff, outsider, operator = map(signed_in, (world.user, world.outsider, world.operator))

    assert staff.post(f"{address}/decide/", {"decision": "approve"}).status_code == 403
    assert outsider.get(f"{address}/change/").status_code in (302, 403)
    question = staff.get(f"{address}/cancel/").content.decode()
    operator.post(f"{address}/decide/", {"decision": "approve"})
    assert fresh(world.batch).approval.state == "Approved"
    staff.post(f"{address}/cancel/")

    assert "Orders that are already placed stay" in question
    assert fresh(world.batch).status == "Cancelled"


def test_decision_is_of_the_rows_that_were_seen(world, signed_in):
    """Where nothing of an approved batch is ordered, other rows may be: their approval is requested anew."""
    Store.objects.filter(pk=world.associated.pk).update(approval_above=0)
    operator, colleague = signed_in(world.operator), approver(world)
    batch = ordered(checked(make_batch(access_to(world), [person(1)])), external_id="twice")
    address = f"/admin/stores/batch/{batch.pk}"
    page = operator.get(f"{address}/change/").content.decode()
    approve_batch(batch=batch, actor=colleague)
    assert open_shop(world).place(body={**order_body(), "ExternalID": "twice"}).status_code == 201
    work_off(ORDER_TASK)
    replace_rows(batch=fresh(batch), source=source_of([person(2), person(3)]))
    ordered(checked(batch), external_id="other")

    answers = [
        operator.post(
            f"{address}/decide/", {"decision": decision, "note": "No", "seen": seen_in(page)}, follow=True
        )
        for decision in ("approve", "deny")
    ]

    assert all("ordered again since you opened it" in response.content.decode() for response in answers)
    assert (fresh(batch).status, fresh(batch).approval.state) == ("Ordering", "Pending")
    page = answers[0].content.decode()
    operator.post(f"{address}/decide/", {"decision": "approve", "seen": seen_in(page)})
    assert fresh(batch).approval.state == "Approved"


def seen_in(page: str) -> str:
    [version] = re.findall(r'name="seen" value="([^"]+)"', page)
    return unescape(version)


def test_list_counts_the_rows_of_all_batches_in_one_statement(world, address, signed_in):
    operator = signed_in(world.operator)
    operator.get("/admin/stores/batch/")
    with CaptureQueriesContext(connection) as one:
        page = operator.get("/admin/stores/batch/").content.decode()
    for _ in range(3):
        make_batch(access_to(world), [person(1)], product_id=world.batch.product.external_id)
    with CaptureQueriesContext(connection) as four:
        operator.get("/admin/stores/batch/")

    assert len(four) == len(one)
    assert f"{world.batch.rows.get().total:.2f} USD" in page
    assert re.search(r"field-rows_counted[^>]*>\s*1\s*<", page)


def test_rows_are_shown_with_a_filter(world, address, signed_in):
    operator = signed_in(world.operator)

    page = operator.get(f"{address}/change/?state=all").content.decode()
    other = operator.get(f"{address}/change/?state=all&words=nobody+has+this").content.decode()

    assert page.count('scope="row"') == world.batch.rows.count() > 0
    assert other.count('scope="row"') == 0


def test_staff_send_a_file_for_the_batch_of_another_person(world, address, signed_in):
    cancel_batch(batch=world.batch)
    other = make_batch(access_to(world), product_id=world.batch.product.external_id, mode="Items")
    staff, here = signed_in(world.user), f"/admin/stores/batch/{other.pk}"
    file = SimpleUploadedFile("rows.csv", b"Name,Email\nAda Lovelace,nobody\n", "text/csv")

    columns = staff.post(f"{here}/rows/", {"file": file}, follow=True).content.decode()
    targets = re.findall(
        r'name="(target-\d+)"(?:(?!</select>).)*?<option value="(\d+)" data-samples="[^"]*" selected',
        columns,
        re.DOTALL,
    )
    staff.post(f"{here}/columns/", dict(targets))
    page = staff.get(f"{here}/change/").content.decode()

    assert "Which column is which?" in columns
    pages = [
        staff.get(f"{here}/{part}").content.decode()
        for part in ("columns/", "cancel/", f"row/{other.rows.get().key}/")
    ]
    pages.append(staff.get(f"/admin/stores/batch/of/{other.product_id}/").content.decode())
    assert [page.count("<h1") for page in pages] == [1] * 4, "the console names the page in its head"
    assert fresh(other).mapping == {"Name": "Name", "Email": "Email"}
    assert "data-editable" in page
    row = other.rows.get()
    saved = staff.post(f"{here}/row/{row.key}/", {"cell-0": "Ada King"}, headers={"X-Grid": "1"})
    assert "Ada King" in saved.content.decode()


def test_those_who_may_not_change_batches_see_rows_alone(world, address, signed_in):
    approver = signed_in(add_approver(Shop(world)))
    page = approver.get(f"{address}/change/?state=all").content.decode()

    assert "Person 001" in page
    assert "data-editable" not in page
    assert "order-bar-form" not in page
    for part in ("columns/", "order/", "rows.csv", "contact-sheet.pdf", "template.csv"):
        assert approver.get(f"{address}/{part}").status_code == 404
    for part in ("rows/", "check/", "cancel/"):
        assert approver.post(f"{address}/{part}").status_code == 404
    assert approver.get(f"/admin/stores/batch/of/{world.batch.product_id}/").status_code == 404


def test_refusals_of_pages_are_in_the_language_of_the_page(world, address, signed_in):
    approver = signed_in(add_approver(Shop(world)))
    german = {"Accept-Language": "de"}

    batch = approver.get(f"{address}/order/", headers=german).content.decode()
    product = approver.get(
        f"/admin/stores/batch/of/{world.batch.product_id}/", headers=german
    ).content.decode()

    assert "Eine solche Sammelbestellung, die Sie ändern dürfen, gibt es nicht." in batch
    assert "Ein solches Produkt, das Sie bestellen dürfen, gibt es nicht." in product


def test_list_is_searched_by_name_product_and_id(world, address, signed_in):
    other = make_batch(access_to(world), product_id=world.batch.product.external_id, name="Winter cards")
    staff = signed_in(world.user)

    def found(words):
        page = staff.get("/admin/stores/batch/", {"q": words}).content.decode()
        return {
            batch_id
            for batch_id in (world.batch.pk, other.pk)
            if f"/admin/stores/batch/{batch_id}/change/" in page
        }

    assert found("winter") == {other.pk}
    assert found(str(world.batch.pk)) == {world.batch.pk}
    assert found(world.batch.product.name) == {world.batch.pk, other.pk}
    assert found("nothing of the kind") == set()


def test_row_without_a_name_is_called_by_its_number_or_its_own_key(world, address, signed_in):
    rows = [{"Job": "Engineer", "Key": ""}, {"Job": "Printer", "Key": "A-17"}]
    batch = make_batch(access_to(world), rows, product_id=world.batch.product.external_id)
    page = signed_in(world.user).get(f"/admin/stores/batch/{batch.pk}/change/?state=all").content.decode()
    heads = re.findall(r'scope="row">(.*?)</th>', page, re.DOTALL)
    heads = [re.sub(r"<[^>]*>|Edit.*", "", head).strip() for head in heads]

    assert heads == ["Row 2", "3 A-17"]


def test_page_of_a_batch_leads_to_its_orders(world, signed_in):
    access = access_to(world)
    first = ordered(checked(make_batch(access, [person(1), person(2)])))
    second = ordered(checked(make_batch(access, [person(3)], product_id=first.product.external_id)))
    numbers = [batch.rows.first().order.number for batch in (first, second)]
    staff = signed_in(world.user)

    page = staff.get(f"/admin/stores/batch/{first.pk}/change/").content.decode()
    listed = staff.get(f"/admin/stores/order/?batch={first.pk}")

    assert f'/admin/stores/order/?batch={first.pk}"' in page
    assert [row.order.number for row in listed.context["rows"]] == numbers[:1]
    assert [chip["words"] for chip in listed.context["chips"]] == [f"Batch: {first.pk}"]
    assert staff.get("/admin/stores/order/?batch=nonsense").context["rows"] == []
