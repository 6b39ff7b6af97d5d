from datetime import UTC, datetime

import pytest
from django.test import RequestFactory
from django.utils import translation
from django.utils.formats import date_format, number_format

from applications.registration.models import ApplicationKey
from fulfillment.core.locales import get_locale

MOMENT = datetime(2026, 11, 22, 13, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("accepted", "written"),
    [
        ("en-US,en;q=0.9", "Nov 22, 2026, 1:05 PM"),
        ("en-AU", "22 Nov 2026, 1:05 p.m."),
        ("en-GB,en-US;q=0.8", "22 Nov 2026, 13:05"),
        ("de-DE,de;q=0.9,en;q=0.8", "22. Nov 2026, 13:05"),
        ("es-MX,es;q=0.9", "22 Nov 2026, 13:05"),
        ("fr-FR,de;q=0.5", "22. Nov 2026, 13:05"),
        ("en;q=0.5,en-US", "Nov 22, 2026, 1:05 PM"),
        ("", "22 Nov 2026, 13:05"),
        ("*;q=nonsense,,;;" * 50, "22 Nov 2026, 13:05"),
    ],
)
def test_dates_are_written_as_the_reader_writes_them(accepted, written):
    request = RequestFactory().get("/", headers={"Accept-Language": accepted})

    with translation.override(get_locale(request)):
        assert date_format(MOMENT, "DATETIME_FORMAT") == written


@pytest.mark.parametrize(
    ("accepted", "language", "written"),
    [
        ("en-US", "", "1,234.50"),
        ("de-DE", "", "1.234,50"),
        ("es-MX", "", "1,234.50"),
        ("es-ES", "", "1 234,50"),
        ("en-US", "es", "1,234.50"),
        ("de-DE", "en", "1,234.50"),
    ],
)
def test_numbers_are_written_as_in_the_readers_country(accepted, language, written):
    request = RequestFactory().get("/", headers={"Accept-Language": accepted})

    with translation.override(get_locale(request, language)):
        assert number_format(1234.5, 2, force_grouping=True).replace("\xa0", " ") == written


def test_pages_of_the_console_write_dates_of_the_readers_locale(client, shop):
    order = shop.place().json()["OrderID"]
    client.force_login(shop.world.operator)
    pages = {
        language: client.get(f"/admin/stores/order/{order}/change/", headers={"Accept-Language": language})
        for language in ("en-US", "en-GB")
    }
    now = datetime.now(UTC)

    assert f"{now:%b} {now.day}, {now.year}, " in pages["en-US"].content.decode()
    assert f"{now.day} {now:%b} {now.year}, " in pages["en-GB"].content.decode()


@pytest.mark.parametrize("zone", ["America/Denver", "Asia/Tokyo"])
def test_pages_show_times_at_the_ends_of_the_calendar(client, world, zone):
    """Anybody may give a key such dates, and a press its reports: the audit log showed nothing but an error."""
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    ApplicationKey.objects.update(start_date=first, end_date=last)
    key = ApplicationKey.objects.first()
    world.operator.time_zone = zone
    world.operator.save()
    client.force_login(world.operator)

    application = f"/admin/applications/application/{key.application_id}/change/"
    pages = [client.get(page) for page in ("/admin/audit/", application)]

    assert [page.status_code for page in pages] == [200, 200]
    assert "9999" in pages[1].content.decode()
