"""The start page of the console shows the oldest records and how many there are."""

import re

import pytest
from django.db import connection
from django.http import HttpRequest
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from fulfillment.core.admin.charts import SHOWN, count_and_oldest
from tests.factories.accounts import UserFactory


@pytest.mark.django_db
def test_all_are_counted_and_few_read_in_one_query_without_joins_for_the_count():
    UserFactory.create_batch(SHOWN + 2)
    users = User.objects.select_related("tenant").order_by("username")

    with CaptureQueriesContext(connection) as queries:
        counted = count_and_oldest(HttpRequest(), "users", users)

    assert counted["count"] == User.objects.count() >= SHOWN + 2
    assert counted["oldest"] == list(users[:SHOWN])
    (statement,) = [query["sql"] for query in queries]
    (counting,) = re.findall(r'\(SELECT COUNT\(.*\) AS "count_of_all"', statement)
    assert "FROM" in counting
    assert "JOIN" in statement
    assert "JOIN" not in counting


@pytest.mark.django_db
def test_no_record_is_counted_as_none():
    assert count_and_oldest(HttpRequest(), "users", User.objects.none()) == {"count": 0, "oldest": []}
