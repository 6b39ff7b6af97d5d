"""The cells of every list are those that django-unfold writes, with the same links; labels begin with capitals."""

import re

import pytest
from django.contrib import admin
from django.urls import reverse
from unfold.templatetags.unfold_list import items_for_result, result_headers

from fulfillment.templatetags.console_list import _rows
from production.jobs.models import Job
from stores.catalog.models import Store
from tests.factories.orders import order_body
from tests.factories.production import accept, make_provider, make_rule
from tests.support.orders.shop import open_shop

pytestmark = pytest.mark.django_db
MANY = 10


@pytest.fixture
def filled(world, settings, tmp_path, client):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    make_rule(make_provider(tmp_path))
    accept(open_shop(world).place(body=order_body()).json()["OrderID"])
    client.force_login(world.operator)
    return client


def _list_of(client, model, query=""):
    page = client.get(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist") + query)
    return page.context_data.get("cl")


def _assert_same_rows(cl):
    rows = list(_rows(cl, list(result_headers(cl))))
    assert rows == [_with_capitals("".join(items_for_result(cl, record, None))) for record in cl.result_list]
    return len(rows)


def _with_capitals(row):
    return re.sub(r'(?<=data-label=")\w', lambda letter: letter[0].upper(), row)


def test_every_list_has_the_rows_of_django_unfold(filled):
    lists = [cl for model in admin.site._registry if (cl := _list_of(filled, model)) is not None]
    assert sum(_assert_same_rows(cl) > 0 for cl in lists) >= MANY


def test_links_of_rows_keep_the_filters_of_their_list(filled):
    cl = _list_of(filled, Job, "?stage=all")
    assert _assert_same_rows(cl) == 1
    assert "_changelist_filters=stage%3Dall" in next(iter(_rows(cl, list(result_headers(cl)))))
    assert _assert_same_rows(_list_of(filled, Store, "?_popup=1")) > 1
