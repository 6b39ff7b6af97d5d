"""Fields of the console that name another record: for any input the form is shown again with the problem."""

from html.parser import HTMLParser
from itertools import cycle, islice

from django import forms
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Role, User
from applications.registration.models import Application
from fulfillment.core.admin import inlines
from stores.catalog.models import Product
from tests.factories.templates import make_card
from tests.support.pages import text
from tests.support.scenario import sign_in

HOSTILE = {
    "letters": "letters",
    "huge": "9" * 30,
    "longer than a number may be": "9" * 5000,
    "negative": "-1",
    "nul": "1\x00",
    "a list": "[1]",
    "other digits": "²",
    "an unreadable letter": "\ufffd",
}
# All of their fields are of one class: each page has some, in turn.
KINDS_OF_A_PAGE = 3


class Controls(HTMLParser):
    """Names of a form's controls, and the options of each select."""

    def __init__(self, content):
        super().__init__()
        self.names, self.options = set(), {}
        self.feed(content)

    def handle_starttag(self, tag, attributes):
        attribute_values = dict(attributes)
        if tag in {"input", "select", "textarea"} and attribute_values.get("name"):
            self.names.add(attribute_values["name"])
        if tag == "select":
            self.select = attribute_values.get("name")
        elif tag == "option":
            self.options.setdefault(self.select, []).append(attribute_values.get("value"))


def address(model, page, *arguments):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


def pages_with_choices(client):
    """Of every admin: its form for a new record and that of one there is."""
    request = client.get("/admin/").wsgi_request
    for model, model_admin in admin.site._registry.items():
        if model_admin.has_add_permission(request):
            yield address(model, "add")
        record = model._default_manager.first()
        if record is not None and model_admin.has_change_permission(request):
            yield address(model, "change", record.pk)


def choice_names(answer):
    """The fields of a page that choose something, those of rows to be added as row 0 or the next."""
    context = answer.context_data
    form = context["adminform"].form if "adminform" in context else None
    names = [
        name
        for name, field in (form.fields if form else {}).items()
        if isinstance(field, forms.ModelChoiceField)
    ]
    rows = {}
    for formset in context.get("inline_admin_formsets", ()):
        empty = formset.formset.empty_form
        number = formset.formset.initial_form_count()
        prefix = formset.formset.prefix
        added = [name for name, field in empty.fields.items() if isinstance(field, forms.ModelChoiceField)]
        rows |= {f"{prefix}-TOTAL_FORMS": number + 1, f"{prefix}-INITIAL_FORMS": number}
        names += [f"{prefix}-{number}-{name}" for name in added]
    return names, rows


def test_key_of_another_kind_is_an_error_of_its_field(world, client, subtests):
    make_card(world.associated)
    world.as_user(world.user)
    sign_in(client, world.operator)
    tried, kinds = [], cycle(HOSTILE.items())
    for page in pages_with_choices(client):
        names, rows = choice_names(client.get(page))
        if not names:
            continue
        for kind, value in islice(kinds, KINDS_OF_A_PAGE):
            with subtests.test(page=page, kind=kind):
                response = client.post(page, {**rows, **dict.fromkeys(names, value)})
                if kind == "nul":
                    # Refused before any form reads it.
                    assert response.status_code == 400
                    continue
                assert response.status_code == 200
                assert "This page can" not in response.content.decode()
                assert response.context_data["errors"]
        tried += [f"{page} {name}" for name in names]

    assert any("/role/add/ store" in address for address in tried)
    assert any("/application/" in address and "-user" in address for address in tried), tried
    assert any("/product/add/ store" in address for address in tried)
    assert len(tried) > 6


def test_few_there_are_can_be_chosen_without_a_script(world, client):
    sign_in(client, world.operator)

    controls = Controls(client.get(address(Product, "add")).content.decode())

    assert {str(world.associated.pk), str(world.unassociated.pk)} <= set(controls.options["store"])
    assert controls.options["store"][0] == "", "no store is preselected"


def test_only_one_there_is_needs_no_choosing(world, client):
    sign_in(client, world.operator)

    controls = Controls(client.get(address(User, "add")).content.decode())

    assert controls.options["tenant"] == [str(world.tenant.pk)]


def test_of_many_the_id_can_be_typed_without_a_script(world, client, monkeypatch):
    monkeypatch.setattr(inlines, "MAX_SUGGESTIONS", 1)
    sign_in(client, world.operator)
    page = text(client.get(address(Role, "add")))

    assert 'name="user" value="" aria-label="ID of the user"' in page
    assert Controls(page).options["user"] == [""]
    # Both controls are sent; the one that was typed into is the second.
    values = {
        "user": ["", str(world.outsider.pk)],
        "store": ["", world.associated.pk],
        "grant": "Order.All.Read",
    }
    assert client.post(address(Role, "add"), values).status_code == 302
    assert Role.objects.filter(user=world.outsider, store=world.associated).exists()


def test_selection_survives_an_error_elsewhere(world, client, monkeypatch):
    monkeypatch.setattr(inlines, "MAX_SUGGESTIONS", 1)
    sign_in(client, world.operator)

    page = client.post(
        address(Role, "add"), {"user": world.user.pk, "grant": "no such grant"}
    ).content.decode()

    assert f'<option value="{world.user.pk}" selected>user ({world.user.email})</option>' in page


def test_rows_to_be_added_look_nothing_up(world, client, django_assert_max_num_queries):
    sign_in(client, world.operator)
    for model, record in ((User, world.user), (Application, world.application)):
        with django_assert_max_num_queries(12):
            client.get(address(model, "change", record.pk))


def test_choice_reads_no_more_rows_than_it_offers(world, client):
    """PostgreSQL reads all users to sort them for the first few."""
    sign_in(client, world.operator)

    with CaptureQueriesContext(connection) as requested:
        page = client.get(address(Role, "add")).content.decode()

    users = [
        query["sql"]
        for query in requested
        if f"LIMIT {inlines.MAX_SUGGESTIONS + 1}" in query["sql"] and "accounts_user" in query["sql"]
    ]
    assert len(users) == 1
    assert "ORDER BY" not in users[0]
    offered = [f">{user.username} ({user.email})<" for user in User.objects.order_by("username")]
    assert sorted(page.index(label) for label in offered) == [page.index(label) for label in offered]
