"""How providers are chosen for the jobs of one order."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from production.dispatch.services.choosing import SLOTS
from production.dispatch.services.together import begin_together
from production.jobs.models import Job
from production.providers.models import Provider
from tests.support.joint_orders import placed

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("a_day", [None, 1])
def test_many_items_are_chosen_for_with_no_more_statements_than_few(shop, press, a_day):
    """All other choices wait meanwhile, of jobs that get a provider and of jobs that find none free."""
    Provider.objects.filter(pk=press.pk).update(daily_capacity=a_day)
    chosen, counts = [], []
    for items in (3, 8):
        first = placed(shop, items).jobs.get(item__position=0)
        Job.objects.filter(pk=first.pk).update(provider=press)
        with SLOTS.of_one_job() as slots, CaptureQueriesContext(connection) as statements:
            chosen.append(len(begin_together(first.pk, slots)))
        counts.append(len(statements))

    assert counts[1] <= counts[0]
    assert chosen == ([2, 1] if a_day else [3, 8])
