"""The board and the pages of providers, as people use them."""

import re
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import Role
from accounts.permissions import Permission
from fulfillment.core.files import downloads
from production.dispatch.admin import job_actions
from production.dispatch.selectors import open_reports
from production.dispatch.services.actions import cancel_job
from production.dispatch.services.reports import receive_reports
from production.interface import Report
from production.jobs.models import Job, JobState, ProviderReport
from production.providers.models import Provider
from production.providers.selectors import provider_secrets
from production.routing.models import RoutingRule
from production.routing.selectors import providers_for_stores
from stores.catalog.models import Product, Store
from tests.factories.orders import card_data, order_body
from tests.factories.production import (
    STORE,
    accept,
    make_press,
    make_provider,
    make_rule,
    only_job,
    work_off_jobs,
)
from tests.support.orders.shop import Shop
from tests.support.pages import text

pytestmark = pytest.mark.django_db
BOARD = "/admin/production/job/"
# A select always sends its choice.
GANG_CHOICES = {"setting_gang_sheets": "off", "setting_gang_flip": "left_right"}


@pytest.fixture
def press(world, tmp_path) -> Provider:
    return make_press(tmp_path)


@pytest.fixture
def job(world, press) -> Job:
    response = Shop(world).place(body=order_body())
    accept(response.json()["OrderID"])
    return only_job()


@pytest.mark.parametrize(
    "query",
    ["", "?stage=late", "?stage=queued&provider=press", "?provider=press", "?store=associated", "?q=1"],
)
def test_board_opens_with_each_filter(operator, job, query):
    assert operator.get(f"{BOARD}{query}").status_code == 200


def test_provider_is_chosen_by_its_name(operator, job, press):
    page = operator.get(f"{BOARD}?provider={press.code}").content.decode()

    assert re.search(rf'<option value="{press.code}" selected>\s*{press.name}\s*</option>', page)


def test_board_shows_jobs_of_the_callers_own_stores_alone(world, client, job):
    client.force_login(world.user)
    assert job.number in client.get(BOARD).content.decode()

    client.force_login(world.outsider)
    assert client.get(BOARD).status_code != 200


@pytest.fixture
def printed(world, press) -> Job:
    shop = Shop(world)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    accept(shop.place(body=order_body(Items=[item])).json()["OrderID"])
    return only_job()


def test_job_links_to_the_files_that_its_press_gets(operator, printed, client, world):
    job = printed
    page = operator.get(f"{BOARD}{job.pk}/change/").content.decode()
    files = {
        address: operator.get(address)
        for address in re.findall(rf'href="({BOARD}{job.pk}/file\.[a-z]+)"', page)
    }
    pdf, xjdf, ticket = files.values()

    assert pdf.content.startswith(b"%PDF-")
    assert b"<XJDF " in xjdf.content
    assert ticket.json()["JobNumber"] == job.number
    assert ticket["Content-Disposition"] == f'attachment; filename="{job.number}.json"'
    assert operator.get(f"{BOARD}{job.pk}/file.exe").status_code == 404
    client.force_login(world.outsider)
    assert {client.get(file).status_code for file in files} <= {302, 403, 404}


def test_large_file_of_a_job_counts_until_it_is_sent(operator, printed, settings, monkeypatch):
    address = f"{BOARD}{printed.pk}/file.pdf"
    whole = operator.get(address).content
    monkeypatch.setattr(downloads, "AT_ONCE_BYTES", 0)
    settings.CONCURRENCY_WAIT_SECONDS = 0

    first = operator.get(address)
    meanwhile = [operator.get(f"{BOARD}{printed.pk}/file.{form}").status_code for form in ("pdf", "json")]

    assert b"".join(first.streaming_content) == whole
    assert meanwhile == [302, 302]
    assert operator.get(f"{BOARD}{printed.pk}/file.json").status_code == 200


def test_lost_file_is_a_message_on_the_page_of_the_job(operator, printed):
    job = printed
    default_storage.delete(job.item.print_file)
    page = operator.get(f"{BOARD}{job.pk}/file.pdf", follow=True)

    assert page.request["PATH_INFO"] == f"{BOARD}{job.pk}/change/"
    assert list(page.context["messages"])


def test_stages_are_tabs_alone_and_other_filters_keep_them(operator, job):
    page = operator.get(f"{BOARD}?stage=sent").content.decode()

    assert "By stage" not in page
    assert '<input type="hidden" name="stage" value="sent">' in page


@pytest.mark.parametrize("page", ["", "days/", "scan/"])
def test_views_of_production_have_the_tabs_of_its_lists(operator, job, page):
    tabs = re.search(r'id="tabs-items".*?</nav>', operator.get(f"{BOARD}{page}").content.decode(), re.DOTALL)[
        0
    ]

    assert re.findall(r'aria-current="page">([^<]+)<', tabs) == ["Production"]
    assert "Gang sheets" in tabs


def test_later_and_late_jobs_stand_below_their_day(operator, job):
    late, later = (timezone.localdate() + timedelta(days=days) for days in (-3, 30))
    for due in (late, later):
        Job.objects.update(due=due)
        page = operator.get(f"{BOARD}days/").content.decode()
        assert f"<h3>{date_format(due, 'l')}, {date_format(due, 'MONTH_DAY_FORMAT')}</h3>" in page


def test_jobs_are_held_released_and_resent_from_the_board(operator, job):
    def act(name: str, **more: str):
        body = {"action": name, "_selected_action": str(job.pk), "index": "0", **more}
        assert operator.post(f"{BOARD}?stage=all", body, follow=True).status_code == 200
        return only_job()

    assert act("hold").held == "Manual"
    assert work_off_jobs() == 0
    assert act("release").held == ""
    work_off_jobs()
    assert act("cancel", confirmed="1").cancel_requested
    work_off_jobs()
    assert act("resend", confirmed="1").number == f"{job.number}-2"
    assert only_job().history.filter(actor__is_operator=True).count() == 4


def test_job_is_reassigned_to_another_provider(operator, job, tmp_path):
    other = make_provider(tmp_path, "other")
    cancel_job(job=job, actor=STORE)
    operator.post(reverse("admin:production_job_reassign"), {"id": job.pk, "provider": "other"})
    work_off_jobs()

    assert (only_job().provider, only_job().state) == (other, JobState.SENT)


def test_reports_marked_as_seen_are_no_longer_open(operator, press):
    stray = Report("stray", "1-1", "Shipped", timezone.now())
    [row] = receive_reports(provider=press, reports=[stray])
    assert open_reports().count() == 1

    body = {
        "action": "mark_seen",
        "_selected_action": ProviderReport.objects.get(identifier=row.identifier).pk,
    }
    page = operator.post(reverse("admin:production_providerreport_changelist"), body, follow=True)

    assert "1 report marked as seen." in page.content.decode()
    assert open_reports().count() == 0


def test_more_jobs_than_a_page_takes_are_not_reassigned_in_part(operator, job, monkeypatch):
    monkeypatch.setattr(job_actions, "MAX_REASSIGNED", 0)
    sent = {"action": "reassign", "select_across": "1", "_selected_action": job.pk}

    page = operator.post(reverse("admin:production_job_changelist"), sent, follow=True)

    assert "Select at most 0 jobs." in page.content.decode()


@pytest.fixture
def staff(world, client, job) -> Client:
    """Who works on the orders of the job's store."""
    Role.objects.create(user=world.outsider, store=job.store, grant=Permission.ORDER_ALL_WRITE)
    cancel_job(job=job, actor=STORE)
    client.force_login(world.outsider)
    return client


def test_staff_see_and_choose_only_providers_that_rules_allow_their_store(staff, world, job, tmp_path):
    make_provider(tmp_path, "unruled")
    make_rule(make_provider(tmp_path, "foreign"), store=Store.objects.exclude(pk=job.store_id).first())
    make_rule(make_provider(tmp_path, "resting"), store=job.store, is_enabled=False)
    own = make_provider(tmp_path, "own")
    make_rule(own, store=job.store)
    address = reverse("admin:production_job_reassign")

    page = text(staff.get(address, {"id": job.pk}))
    assert [name for name in ("Press", "Unruled", "Foreign", "Resting", "Own") if f"> {name} <" in page] == [
        "Press",
        "Own",
    ]
    for code in ("unruled", "foreign", "resting"):
        staff.post(address, {"id": job.pk, "provider": code})
        assert only_job().state == JobState.CANCELLED
    staff.post(address, {"id": job.pk, "provider": "own"})
    assert only_job().provider == own


def test_staff_choose_for_jobs_of_several_stores_what_all_of_them_may_use(world, tmp_path):
    stores = Store.objects.filter(is_demo=False).order_by("pk")[:2]
    both, one = make_provider(tmp_path, "both"), make_provider(tmp_path, "one")
    make_rule(both, one, store=stores[0])
    make_rule(both, store=stores[1])

    assert set(providers_for_stores([stores[0].pk])) == {both, one}
    assert set(providers_for_stores([store.pk for store in stores])) == {both}


def test_provider_is_added_with_settings_that_are_checked(operator, settings, tmp_path):
    settings.PRODUCTION_FOLDERS = [tmp_path / "press"]
    (tmp_path / "press" / "in").mkdir(parents=True)
    address = reverse("admin:production_provider_add") + "?adapter=folder"
    body = {
        "name": "Press",
        "code": "press",
        "is_enabled": "on",
        "setting_folder": str(tmp_path / "elsewhere"),
        "setting_layout": "folders",
        "setting_name_pattern": "{number}",
        "setting_tickets": "both",
        "setting_taken": "Acknowledged",
        **GANG_CHOICES,
    }
    assert "PRODUCTION_FOLDERS" in operator.post(address, body).content.decode()

    operator.post(address, {**body, "setting_folder": str(tmp_path / "press" / "in")})
    provider = Provider.objects.get()
    assert provider.settings["folder"] == str(tmp_path / "press" / "in")
    tested = operator.post(reverse("admin:production_provider_test", args=[provider.pk]), follow=True)
    assert "can be written" in tested.content.decode()


def test_secrets_are_encrypted_kept_and_never_shown(operator):
    address = reverse("admin:production_provider_add") + "?adapter=sftp"
    body = {
        "name": "Shop",
        "code": "shop",
        "is_enabled": "on",
        "setting_host": "sftp.example.com",
        "setting_port": "22",
        "setting_host_key": "SHA256:" + "A" * 43,
        "setting_username": "press",
        "setting_password": "quiet-otter",
        "setting_folder": "/in",
        "setting_layout": "job_folder",
        "setting_tickets": "both",
        "setting_time_limit": "300",
        **GANG_CHOICES,
    }
    page = operator.post(address, body, follow=True)
    provider = Provider.objects.get()
    change = reverse("admin:production_provider_change", args=[provider.pk])
    operator.post(change, {**body, "name": "Shop 2", "setting_password": ""})

    assert "quiet-otter" not in page.content.decode() + operator.get(change).content.decode()
    assert b"quiet-otter" not in bytes(Provider.objects.get().secrets_ciphertext)
    assert provider_secrets(Provider.objects.get())["password"] == "quiet-otter"
    assert Provider.objects.get().name == "Shop 2"


def test_rule_tester_and_dry_run_say_where_and_what(operator, job, press):
    tester = operator.get(reverse("admin:production_routingrule_tester"), {"order": job.order.number})
    dry_run = operator.get(
        reverse("admin:production_job_dry_run", args=[press.pk]), {"order": job.order.number}
    )

    assert "Press gets it" in tester.content.decode()
    assert "&lt;XJDF" in dry_run.content.decode()
    assert work_off_jobs() == 1


def test_page_of_an_order_and_the_start_page_show_jobs(operator, job):
    Job.objects.update(state=JobState.FAILED, next_try=None)
    order = operator.get(reverse("admin:stores_order_change", args=[job.order_id])).content.decode()
    start = operator.get("/admin/").content.decode()

    assert reverse("admin:production_job_change", args=[job.pk]) in order
    assert "print job failed" in start


def test_rule_takes_a_category_of_the_catalog_and_known_countries(operator, press, job):
    Product.objects.update(category="Cards")
    add = reverse("admin:production_routingrule_add")
    rows = {"choices-TOTAL_FORMS": 1, "choices-INITIAL_FORMS": 0, "choices-0-provider": press.pk}
    sent = {"name": "Cards", "position": 1, **rows, "choices-0-priority": 1, "choices-0-share": 1}

    def faults(**changes):
        return operator.post(add, {**sent, **changes}).context["adminform"].form.errors

    page = operator.get(add).content.decode()

    assert '<option value="Cards">Cards</option>' in page
    assert "category" in faults(category="Car")
    [said] = faults(countries="US, Canada")["countries"]
    assert said == "CANADA is not a country code. Use two letters, such as US, CA or GB."
    assert operator.post(add, {**sent, "category": "Cards", "countries": "us ca"}).status_code == 302
    assert RoutingRule.objects.get(name="Cards").countries == ["US", "CA"]


def test_own_pages_lead_back_to_the_list_or_to_their_record(operator, press):
    dry_run = operator.get(reverse("admin:production_job_dry_run", args=[press.pk])).content.decode()
    days = operator.get(reverse("admin:production_job_days")).content.decode()

    assert re.search(
        rf'href="/admin/production/provider/{press.pk}/change/"[^>]*aria-label="Go back"', dry_run
    )
    assert re.search(rf'href="/admin/production/provider/{press.pk}/change/"[^>]*console-crumb', dry_run)
    assert re.search(rf'href="{BOARD}"[^>]*aria-label="Go back"', days)
    assert 'aria-label="Go back"' not in operator.get(BOARD).content.decode()
