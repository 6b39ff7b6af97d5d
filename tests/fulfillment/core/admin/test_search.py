"""The search of the console finds what Django's own would, through fewer rows."""

import time

import pytest
from django.contrib import admin
from django.contrib.admin import ModelAdmin

from accounts.models import Role, Subscription
from stores.catalog.models import Product
from tests.factories.templates import make_card

TERMS = ("user", "USER", "associated", "user associated", '"user" no', "'associated'", "%", "\\", "'", "ass_")


@pytest.mark.parametrize("model", [Role, Product, Subscription], ids=lambda one: one.__name__)
@pytest.mark.parametrize("term", TERMS)
def test_search_finds_what_djangos_own_would(world, rf, model, term):
    make_card(world.associated)
    world.as_user(world.user)
    model_admin, everything = admin.site._registry[model], model.objects.all()
    request = rf.get("/")

    records, _ = model_admin.get_search_results(request, everything, term)
    expected, _ = ModelAdmin.get_search_results(model_admin, request, everything, term)

    assert set(records) == set(expected)
    assert "JOIN" not in str(records.order_by().query).partition("WHERE")[0]


def test_search_by_the_name_of_a_user_finds_the_roles(world, rf):
    model_admin = admin.site._registry[Role]

    roles, _ = model_admin.get_search_results(rf.get("/"), Role.objects.all(), world.user.username)

    assert set(roles) == set(Role.objects.filter(user=world.user)) != set()


def test_search_for_a_pasted_page_finds_nothing_without_a_query(world, rf, django_assert_num_queries):
    model_admin = admin.site._registry[Role]

    with django_assert_num_queries(0):
        page = " ".join(map(str, range(3000)))
        roles, _ = model_admin.get_search_results(rf.get("/"), Role.objects.all(), page)
        assert list(roles) == []

    repeated, _ = model_admin.get_search_results(rf.get("/"), Role.objects.all(), "user " * 3000)
    assert set(repeated) == set(Role.objects.filter(user=world.user))


def test_search_for_many_quotes_finds_nothing_at_once(world, rf):
    model_admin = admin.site._registry[Role]
    started = time.thread_time()

    roles, _ = model_admin.get_search_results(rf.get("/"), Role.objects.all(), '\\" ' * 5400)

    assert list(roles) == []
    assert time.thread_time() - started < 0.3
