import re
from datetime import date, timedelta

import pytest

from applications.registration.models import DailyUsage
from applications.registration.pages.usage_chart import HEIGHT, MIN_HEIGHT, WIDTH, chart, round_up
from applications.registration.selectors.request_log import today

UNTIL = date(2026, 5, 30)


def row(day: date, calls: int, client_errors: int = 0, server_errors: int = 0, **more) -> DailyUsage:
    return DailyUsage(day=day, calls=calls, client_errors=client_errors, server_errors=server_errors, **more)


def test_thirty_days_stand_side_by_side_without_gaps_in_time():
    usage = chart([row(UNTIL, 5), row(UNTIL - timedelta(days=29), 3)], until=UNTIL)

    assert [day.day for day in usage.days] == [UNTIL - timedelta(days=back) for back in range(29, -1, -1)]
    assert (usage.days[0].calls, usage.days[1].calls, usage.days[29].calls) == (3, 0, 5)
    assert usage.columns[0].x >= 0
    assert usage.columns[29].x + usage.columns[29].width <= WIDTH


def test_column_is_stacked_from_the_ground_to_its_share_of_the_top():
    usage = chart([row(UNTIL, 100, client_errors=20, server_errors=10)], until=UNTIL)

    blocks = usage.columns[29].blocks
    assert [block.kind for block in blocks] == ["good", "client-errors", "server-errors"]
    assert [block.height for block in blocks] == [84, 24, 12]
    assert blocks[0].y + blocks[0].height == HEIGHT
    assert blocks[2].y == 0


def test_one_failure_among_a_million_calls_is_seen():
    usage = chart([row(UNTIL, 1_000_000, server_errors=1)], until=UNTIL)

    (good, failed) = usage.columns[29].blocks
    assert (failed.kind, failed.y) == ("server-errors", 0)
    assert 0 < failed.height <= MIN_HEIGHT
    assert good.y >= 0


@pytest.mark.parametrize(
    ("calls", "top"), [(0, 1), (1, 1), (3, 5), (5, 5), (6, 10), (1001, 2000), (10**9, 10**9)]
)
def test_scale_ends_at_a_round_number(calls, top):
    assert round_up(calls) == top


def test_overview_shows_the_numbers_also_as_a_table(world, browser):
    for application, calls in ((world.application, 1234), (world.other_application, 999_999)):
        row(today(), calls, 34, 2, application=application).save(force_insert=True)
    row(today() - timedelta(days=30), 777_777, application=world.application).save(force_insert=True)

    page = browser.get(f"/applications/{world.application.pk}").content.decode()
    page = re.sub(r">\s+<", "><", " ".join(page.split()))

    assert "<dd>1,234</dd>" in page
    assert page.count('class="chart-column"') == 30
    day = today()
    refused = (
        f'<a href="/applications/{world.application.pk}/requests?status=4xx&amp;since={day:%Y-%m-%d}T00:00'
        f'&amp;until={day:%Y-%m-%d}T23:59">34<span class="visually-hidden"> refused on {day.day} {day:%b}</span></a>'
    )
    assert f'<td class="number">1,234</td><td class="number">{refused}</td><td class="number">2</td>' in page
    assert "999,999" not in page
    assert "777,777" not in page


def test_without_calls_it_says_how_to_make_one(world, browser):
    page = browser.get(f"/applications/{world.application.pk}").content.decode()

    assert "No calls in the last 30 days" in page
    assert f"/applications/{world.application.pk}/try" in page
