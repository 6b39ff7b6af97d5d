"""One order in the console: comments, reprints, and its print file as pictures."""

import io

import pytest
from django.urls import reverse
from django.utils import timezone
from PIL import Image

from accounts.models import Role
from applications.webhooks.models import Delivery, Event
from fulfillment.core.files.stored import list_folder, read_file
from stores.orders.models import ActorKind, Order, OrderComment
from stores.orders.services import print_files
from stores.orders.services.changes import Actor
from stores.orders.services.print_files import print_folder
from stores.orders.services.recipients import erase_recipient
from tests.factories.orders import card_data, make_card, order_body
from tests.factories.webhooks import make_webhook
from tests.support.pages import text


@pytest.fixture
def order(shop):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    body = order_body(Items=[item, {"ProductID": "card", "Quantity": 200}])
    return Order.objects.get(pk=shop.place(body=body).json()["OrderID"])


@pytest.fixture
def console(shop, client):
    client.force_login(shop.world.operator)
    return client


def address(name: str, *arguments) -> str:
    return reverse(f"admin:stores_order_{name}", args=arguments)


def test_comment_is_for_colleagues_alone(console, shop, order):
    page = console.post(address("comment", order.pk), {"comment": "Call <b>first</b>"}, follow=True)

    assert "Call &lt;b&gt;first&lt;/b&gt;" in text(page)
    assert OrderComment.objects.get().author == shop.world.operator
    order.refresh_from_db()
    assert order.sequence == 1
    assert "Call" not in shop.world.as_application().call("GET", f"/store/associated/order/{order.pk}").text
    console.post(address("comment", order.pk), {"comment": "  "})
    console.post(address("comment", order.pk), {"comment": "x" * 2001})
    assert OrderComment.objects.count() == 1
    assert console.get(address("comment", order.pk)).status_code == 405


def test_note_is_for_the_one_who_ordered_and_says_so(console, shop, order):
    page = address("change", order.pk)
    opened = console.get(page)
    version = opened.context["adminform"].form["seen"].value()

    console.post(page, {"seen": version, "move_to": "20", "note": "Paper is late"})

    assert "the person who ordered can read it" in text(opened)
    history = shop.world.as_application().call("GET", f"/store/associated/order/{order.pk}/history").json()
    assert history[-1]["Note"] == "Paper is late"


def test_only_who_works_on_the_store_comments_and_reprints(client, shop, order):
    client.force_login(shop.world.user)
    Role.objects.filter(user=shop.world.user, grant="Order.All.Write").delete()
    assert client.post(address("comment", order.pk), {"comment": "x"}).status_code == 403
    assert client.get(address("reprint", order.pk)).status_code == 403
    Role.objects.filter(user=shop.world.user).update(store=shop.world.unassociated)
    for name in ("comment", "reprint"):
        assert client.post(address(name, order.pk)).status_code == 404
    for path in (address("print_view", order.pk, 0), address("print_picture", order.pk, 0, 0, "small")):
        assert client.get(path).status_code == 404
    assert not OrderComment.objects.exists()
    assert Order.objects.count() == 1


def test_pages_of_a_print_file_are_pictures_drawn_once(console, order, monkeypatch):
    page = console.get(address("print_view", order.pk, 0))
    assert len(page.context["pages"]) == 2

    response = console.get(address("print_picture", order.pk, 0, 1, "small"))
    picture = Image.open(io.BytesIO(response.content))
    assert picture.size == (192, round(192 * 2 / 3.5))
    assert "immutable" in response["Cache-Control"]
    whole = Image.open(io.BytesIO(console.get(address("print_picture", order.pk, 0, 0, "large")).content))
    assert whole.width == 1600

    def fail(*given, **more):
        raise AssertionError("It was drawn again.")

    monkeypatch.setattr(print_files, "render_pdf_page", fail)
    assert console.get(address("print_picture", order.pk, 0, 1, "small")).content == response.content
    for arguments in ((0, 2, "small"), (0, 0, "huge"), (1, 0, "small"), (9, 0, "small")):
        assert console.get(address("print_picture", order.pk, *arguments)).status_code == 404


def test_print_file_is_read_for_a_picture_in_a_slot_alone(console, order, settings, monkeypatch):
    read = []
    monkeypatch.setattr(print_files, "read_file", lambda name: read.append(name) or b"")
    monkeypatch.setattr(print_files, "WAIT_SECONDS", 0)
    settings.RENDERINGS_CONCURRENCY = 0

    assert console.get(address("print_picture", order.pk, 0, 0, "small")).status_code == 503
    assert read == []


def test_comments_and_pictures_are_erased_with_the_recipient(console, order):
    console.post(address("comment", order.pk), {"comment": "Dana Whitfield called"})
    console.get(address("print_picture", order.pk, 0, 0, "small"))

    erase_recipient(order=order, actor=Actor(ActorKind.OPERATOR), force=True)

    assert not OrderComment.objects.exists()
    assert list_folder(print_folder(order.pk))[1] == []
    assert console.get(address("print_picture", order.pk, 0, 0, "small")).status_code == 404
    page = console.post(address("comment", order.pk), {"comment": "More"}, follow=True)
    assert "It accepts no new comments" in text(page)
    page = console.post(address("reprint", order.pk), {"item": "0", "reprints": "0"})
    assert "cannot be printed again" in text(page)


def test_reprint_orders_the_same_file_again(console, shop, order):
    values = {"item": ["0"], "reprints": "0"}
    page = console.post(address("reprint", order.pk), values, follow=True)

    again = Order.objects.get(reprint_of=order)
    old, new = order.items.get(position=0), again.items.get()
    assert f"Order {again.number} created. It prints order {order.number} again." in text(page)
    assert (new.print_sha256, new.quantity, new.item_key) == (old.print_sha256, old.quantity, old.item_key)
    assert new.print_file != old.print_file
    assert read_file(new.print_file) == read_file(old.print_file)
    assert (again.recipient, again.status) == (order.recipient, 10)
    assert again.history.get().actor == shop.world.operator
    assert "Reprint of <a" in text(page)

    page = console.post(address("reprint", order.pk), values)
    assert "The order was printed again meanwhile." in text(page)
    page = console.post(address("reprint", order.pk), {"reprints": "1"})
    assert "select at least one" in text(page)
    assert Order.objects.count() == 2


def test_reprint_tells_packing_who_each_piece_is_for(console, order):
    order.items.filter(position=0).update(label="Ada Lovelace, 17")
    console.post(address("reprint", order.pk), {"item": ["0"], "reprints": "0"})
    assert Order.objects.get(reprint_of=order).items.get().label == "Ada Lovelace, 17"


def test_reprint_prints_what_can_no_longer_be_drawn(console, order):
    """The template of that day, or a picture of the application, may be gone."""
    type(order.items.get(position=0).product).objects.update(template=None, version=9)

    console.post(address("reprint", order.pk), {"item": ["0", "1"], "reprints": "0"})

    again = Order.objects.get(reprint_of=order)
    assert [bool(item.print_file) for item in again.items.order_by("position")] == [True, False]


def test_timeline_names_an_event_once_a_webhook_is_to_receive_it(console, shop, order):
    assert "Event order.received" not in text(console.get(address("change", order.pk)))
    now, webhook = timezone.now(), make_webhook(shop.world.application)
    event = Event.objects.get(data__OrderID=str(order.pk))
    delivery = Delivery.objects.create(event=event, webhook=webhook, next_try=now, created=now)

    page = console.get(address("change", order.pk))

    assert "Event order.received" in text(page)
    assert reverse("admin:applications_delivery_change", args=[delivery.pk]) in text(page)


def test_page_leads_to_what_belongs_to_the_order(console, shop, order):
    page = console.get(address("change", order.pk))

    for link in (
        f"/admin/applications/application/{shop.world.application.pk}/change/",
        address("print_view", order.pk, 0),
        address("packing_slip", order.pk),
        address("reprint", order.pk),
    ):
        assert f'href="{link}"' in page.content.decode()
