"""Jobs wait for each other, and go as one gang sheet: once, whole, and each reported by its own number."""

import io
import json
import os
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from pypdf import PdfReader

from printing.imposition import GangRequest
from production.adapters.folder import FolderAdapter
from production.dispatch.services.actions import cancel_job, hold_job, release_job, resend_job
from production.dispatch.services.polling import poll_provider
from production.dispatch.services.reports import receive_reports
from production.gang_sheets.models import GangSheet, SheetState
from production.gang_sheets.services import archives, members
from production.gang_sheets.services.building import gang_request, sheet_kind
from production.gang_sheets.services.sending import _plan_sheet, claim_due_sheets
from production.interface import ProviderRefused, ProviderUnavailable, Report
from production.jobs.models import Attempt, Job, JobState
from production.jobs.services.adapter_jobs import build_adapter_job
from production.jobs.services.recording import SYSTEM
from production.operations import skip_used_numbers
from production.providers.models import Provider
from production.providers.services import review_failing_providers
from production.tickets.check import VARIABLE, find_mistakes
from stores.catalog.models import Product
from stores.orders.models import Order, OrderStatus
from stores.orders.services.cancellation import cancel_order
from stores.orders.services.transitions import transition_order
from tests.factories.orders import card_data, order_body
from tests.factories.production import STORE, accept, make_provider, work_off_jobs
from tests.support.batches.batches import access_to, checked, make_batch, ordered, person
from tests.support.orders.shop import Shop
from tests.support.production.jobs import large_reads, made_job

pytestmark = pytest.mark.django_db


def order(shop: Shop, quantity: int = 100, product: str = "card-two-sided") -> Job:
    data = {"TemplateData": card_data()} if product == "card-two-sided" else {}
    response = shop.place(body=order_body(Items=[{"ProductID": product, "Quantity": quantity, **data}]))
    assert response.status_code == 201, response.content
    accept(response.json()["OrderID"])
    work_off_jobs()
    return Job.objects.latest("pk")


def wait_is_over() -> None:
    GangSheet.objects.filter(next_try__isnull=False).update(next_try=timezone.now())


def again(job: Job) -> Job:
    return Job.objects.select_related("order", "provider", "gang_sheet").get(pk=job.pk)


def at_press(press: Provider) -> list[str]:
    folder = Path(press.settings["folder"])
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def report(job: Job, state: str, **more: str) -> Report:
    return Report(f"{job.number}:{state}", job.number, state, timezone.now(), **more)


def test_jobs_wait_for_each_other_and_go_as_one_sheet(shop, press):
    jobs = [order(shop, quantity) for quantity in (100, 250, 500)]
    sheet = GangSheet.objects.get()
    assert {again(job).gang_sheet for job in jobs} == {sheet}
    assert (sheet.pieces, sheet.state, at_press(press)) == (850, SheetState.COLLECTING, [])
    assert timedelta(minutes=29) < sheet.next_try - timezone.now() <= timedelta(minutes=30)

    wait_is_over()
    work_off_jobs()

    assert at_press(press) == [sheet.number]
    sheet.refresh_from_db()
    assert (sheet.state, sheet.next_try) == (SheetState.SENT, None)
    assert sheet.waste <= 0.1
    folder = Path(press.settings["folder"]) / sheet.number
    ticket = json.loads((folder / f"{sheet.number}.json").read_bytes())
    assert [job["JobNumber"] for job in ticket["Jobs"]] == [job.number for job in jobs]
    assert [job["Pieces"] >= job["Quantity"] for job in ticket["Jobs"]] == [True] * 3
    assert ticket["Jobs"][0]["Recipient"]["Name"]
    assert {file["Name"] for file in ticket["Files"]} == {path.name for path in folder.glob("*.pdf")}
    for file in ticket["Files"]:
        assert f"-run-{file['Run']}.pdf" in file["Name"]
        assert float(PdfReader(folder / file["Name"]).pages[0].mediabox.width) == pytest.approx(
            450 * 72 / 25.4, abs=0.1
        )
    xjdf = (folder / f"{sheet.number}.xjdf").read_bytes()
    assert all(f'IDUsage="JobID" IDValue="{job.number}"'.encode() in xjdf for job in jobs)
    if VARIABLE in os.environ:
        assert find_mistakes(xjdf, Path(os.environ[VARIABLE])) == []
    for job in jobs:
        assert again(job).state == JobState.SENT
        assert again(job).history.last().note == f"On gang sheet {sheet}."
        assert [attempt.outcome for attempt in job.attempts.all()] == ["Sent"]


def test_rows_of_a_batch_share_a_sheet_that_names_each(shop, press, world):
    rows = [person(number, Key=f"k{number}") for number in (1, 2, 3)]
    batch = ordered(checked(make_batch(access_to(world), rows, product_id="card-two-sided")))
    accept(str(Order.objects.get().pk))
    work_off_jobs()
    wait_is_over()
    work_off_jobs()

    sheet = GangSheet.objects.get()
    assert (batch.status, at_press(press)) == ("Ordered", [sheet.number])
    folder = Path(press.settings["folder"]) / sheet.number
    ticket = json.loads((folder / f"{sheet.number}.json").read_bytes())
    assert [job["Order"]["Label"] for job in ticket["Jobs"]] == [f"Person 00{n} (k{n})" for n in (1, 2, 3)]


def test_after_a_recovery_no_number_of_a_sheet_or_an_order_is_used_twice(shop, press, capsys):
    before = order(shop)
    sheet = GangSheet.objects.get()

    call_command("prepare", "--after-recovery", verbosity=0)

    said = capsys.readouterr().out
    later = order(shop)
    other = again(later).gang_sheet
    assert other.pk > sheet.pk + 1_000_000
    assert later.order.number > before.order.number + 1_000_000
    assert f"New orders begin at number {later.order.number}:" in said
    assert f"New gang sheets begin at number {other}." in said
    wait_is_over()
    work_off_jobs()
    assert at_press(press) == sorted([sheet.number, other.number])


def test_after_a_recovery_no_number_of_a_job_that_was_sent_again_is_used_twice(shop, press):
    job = order(shop, product="card")
    cancel_job(job=job, actor=SYSTEM)
    work_off_jobs()

    call_command("prepare", "--after-recovery", verbosity=0)

    # Since the moment of the recovery it may have been sent as -2, which the press would take for known.
    assert resend_job(job=job, actor=SYSTEM).number == f"{job.number}-102"


def test_second_restore_skips_numbers_of_jobs_that_were_sent_again_since_the_first(shop, press):
    job = order(shop, product="card")
    cancel_job(job=job, actor=SYSTEM)
    work_off_jobs()
    with connection.cursor() as cursor:
        # The tables that a restore replaces: there, the job was sent again after an earlier restore.
        cursor.execute("CREATE SCHEMA before_restore")
        cursor.execute("CREATE TABLE before_restore.production_job AS SELECT 103 AS generation")

    list(skip_used_numbers())

    assert resend_job(job=job, actor=SYSTEM).number == f"{job.number}-204"


def test_one_sheet_at_a_time_goes_to_a_provider(shop, press, tmp_path):
    """One whose transfers never end would keep those of all others waiting."""
    other = make_provider(tmp_path, "other", settings={"gang_sheets": "sheetwise"})
    past = timezone.now() - timedelta(minutes=1)
    first, _, third = (
        GangSheet.objects.create(
            provider=provider,
            store=shop.store,
            product=Product.objects.first(),
            kind=str(number),
            created=past,
            next_try=past + timedelta(seconds=number),
        )
        for number, provider in enumerate((press, press, other))
    )

    assert set(claim_due_sheets(limit=3)) == {first.pk, third.pk}
    GangSheet.objects.update(next_try=past)
    assert claim_due_sheets(limit=3, under_way=[first.pk]) == [third.pk]
    GangSheet.objects.update(next_try=past)
    assert set(claim_due_sheets(limit=3, under_way=[third.pk])) == {first.pk}


def test_sheet_goes_at_once_when_enough_pieces_wait(shop, press):
    for quantity in (500, 500):
        order(shop, quantity)
    work_off_jobs()
    assert GangSheet.objects.get().state == SheetState.SENT


def test_jobs_of_other_products_and_without_a_print_file_do_not_share(shop, press):
    alone, ganged = order(shop, product="card"), order(shop)
    assert (again(alone).state, again(alone).gang_sheet) == (JobState.SENT, None)
    assert again(ganged).gang_sheet is not None


def test_pages_that_are_fronts_of_several_sheets_do_not_share(shop, press):
    Product.objects.filter(external_id="card-two-sided").update(is_one_sided=True)
    alone = order(shop)
    assert (again(alone).state, again(alone).gang_sheet) == (JobState.SENT, None)


def test_folds_of_a_product_are_marked_on_its_sheet(shop, press):
    Product.objects.update(folding="F6-4")
    job = build_adapter_job(order(shop), is_stamped=False)

    assert gang_request(job).panels == 3
    assert gang_request(replace(job, item=replace(job.item, folding=""))).panels == 1


def test_pieces_that_turn_otherwise_wait_for_another_sheet(shop, press):
    order(shop)
    Product.objects.filter(external_id="card-two-sided").update(binding_edge="Top")
    turned = order(shop)

    kinds = [sheet.kind for sheet in GangSheet.objects.order_by("pk")]

    assert [kind.split(", ")[2] for kind in kinds] == ["two sides", "two sides head to foot"]
    assert turned.gang_sheet_id == GangSheet.objects.latest("pk").pk


@pytest.mark.parametrize(
    ("sheet", "edge", "sides", "style", "note"),
    [
        ({"gang_flip": "left_right"}, "Top", "TwoSidedHeadToHead", "Sheetwise", ""),
        ({"gang_flip": "top_bottom"}, "", "TwoSidedHeadToFoot", "Sheetwise", ""),
        ({"gang_sheets": "work_and_turn"}, "Top", "TwoSidedHeadToHead", "WorkAndTurn", "left to right."),
        ({"gang_sheets": "work_and_tumble"}, "", "TwoSidedHeadToFoot", "WorkAndTumble", "top to bottom."),
    ],
)
def test_ticket_of_a_sheet_says_how_the_press_turns_it_and_that_of_a_job_its_piece(
    shop, press, sheet, edge, sides, style, note
):
    Provider.objects.update(settings=press.settings | sheet)
    Product.objects.filter(external_id="card-two-sided").update(binding_edge=edge)
    order(shop)
    wait_is_over()
    work_off_jobs()

    [name] = Path(press.settings["folder"]).glob("G*/G*.json")
    ticket = json.loads(name.read_bytes())

    assert (ticket["Sides"], ticket["BindingEdge"]) == (sides, "")
    assert (ticket["TwoSided"], ticket["WorkStyle"]) == (True, style)
    assert ticket["SheetSize"] == {"WidthMM": 450.0, "HeightMM": 320.0}
    assert "SheetSize" not in ticket["Jobs"][0]
    assert ticket["Pages"] == (2 if style == "Sheetwise" else 1)
    assert "WorkStyle" not in ticket["Jobs"][0]
    assert ticket["Note"].endswith(note or "by its own number.")
    assert ticket["Jobs"][0]["Sides"] == ("TwoSidedHeadToFoot" if edge else "TwoSidedHeadToHead")


def test_each_job_is_reported_by_its_own_number_and_all_by_the_sheets(shop, press):
    first, second = order(shop), order(shop)
    wait_is_over()
    work_off_jobs()
    sheet = GangSheet.objects.get()

    rows = receive_reports(
        provider=press, reports=[Report("r1", sheet.number, "InProduction", timezone.now())]
    )
    assert [row.outcome for row in rows] == ["Applied", "Applied"]
    receive_reports(provider=press, reports=[report(first, "Shipped", carrier="UPS", tracking_number="1Z1")])

    assert (again(first).state, again(second).state) == (JobState.SHIPPED, JobState.IN_PRODUCTION)
    assert Order.objects.get(pk=first.order_id).status == OrderStatus.SHIPPED
    assert Order.objects.get(pk=second.order_id).tracking_numbers == []


def test_sheet_of_several_files_side_by_side_is_shipped_with_its_last_one(shop, press):
    press.settings |= {"layout": "flat", "gang_pieces": 100_000}
    press.save()
    for quantity in (100, 200, 500, 1000):
        order(shop, quantity)
    wait_is_over()
    work_off_jobs()
    hot, shipped = Path(press.settings["folder"]), Path(press.settings["return_folder"]) / "shipped"
    shipped.mkdir()
    first, last = (name for name in at_press(press) if name.endswith(".pdf"))

    (hot / first).rename(shipped / first)
    poll_provider(provider_pk=press.pk)
    assert not Job.objects.filter(state=JobState.SHIPPED).exists()

    (hot / last).rename(shipped / last)
    poll_provider(provider_pk=press.pk)
    assert Job.objects.filter(state=JobState.SHIPPED).count() == 4


def test_kill_between_planning_and_sending_sends_the_sheet_once(shop, press, monkeypatch):
    jobs, submit = [order(shop), order(shop, 250)], FolderAdapter.submit
    for when in ("before", "after"):

        def killed(self, job, when=when):
            if when == "after":
                submit(self, job)
            raise SystemExit

        monkeypatch.setattr(FolderAdapter, "submit", killed)
        wait_is_over()
        with pytest.raises(SystemExit):
            work_off_jobs()
    monkeypatch.setattr(FolderAdapter, "submit", submit)
    wait_is_over()
    work_off_jobs()

    sheet = GangSheet.objects.get()
    assert (at_press(press), sheet.state) == ([sheet.number], SheetState.SENT)
    for job in jobs:
        assert again(job).state == JobState.SENT
        assert [attempt.outcome for attempt in job.attempts.all()] == ["Interrupted", "Interrupted", "Sent"]


def test_held_and_cancelled_jobs_leave_before_the_sheet_goes(shop, press):
    stays, held, cancelled = order(shop), order(shop, 250), order(shop, 500)
    hold_job(job=held, actor=STORE)
    cancel_order(order=cancelled.order, actor=STORE)
    assert GangSheet.objects.get().pieces == 100

    wait_is_over()
    work_off_jobs()

    ticket = next(Path(press.settings["folder"]).glob("G*/*.json"))
    assert [job["JobNumber"] for job in json.loads(ticket.read_bytes())["Jobs"]] == [stays.number]
    assert (again(held).state, again(held).held) == (JobState.QUEUED, "Manual")
    assert again(cancelled).state == JobState.CANCELLED
    release_job(job=held, actor=STORE)
    work_off_jobs()
    assert again(held).gang_sheet.state == SheetState.COLLECTING


def test_job_leaves_a_planned_sheet_while_the_provider_is_away(shop, press, monkeypatch):
    """What was prepared with it is never sent: the sheet gets another number."""
    stays, leaves, submit = order(shop), order(shop, 250), FolderAdapter.submit

    def away(self, job):
        raise ProviderUnavailable("No route.", is_unsent=True)

    monkeypatch.setattr(FolderAdapter, "submit", away)
    wait_is_over()
    work_off_jobs()
    assert (again(stays).state, again(stays).next_try) == (JobState.QUEUED, None)
    cancel_job(job=leaves, actor=STORE)
    monkeypatch.setattr(FolderAdapter, "submit", submit)
    wait_is_over()
    work_off_jobs()

    sheet = GangSheet.objects.get()
    assert (sheet.generation, at_press(press)) == (2, [sheet.number])
    assert (again(stays).state, again(leaves).state) == (JobState.SENT, JobState.CANCELLED)


@pytest.mark.parametrize("failures", [0, 1])
def test_job_that_may_be_at_the_press_with_its_sheet_is_cancelled_there_by_a_person(
    shop, press, monkeypatch, failures
):
    job, submit = order(shop), FolderAdapter.submit

    def cut(self, sent):
        submit(self, sent)
        raise ProviderUnavailable("Cut.")

    monkeypatch.setattr(FolderAdapter, "submit", cut)
    wait_is_over()
    work_off_jobs()
    cancel_order(order=again(job).order, actor=STORE)
    work_off_jobs()
    assert (again(job).state, again(job).cancel_requested is not None) == (JobState.QUEUED, True)
    for _ in range(failures):
        wait_is_over()
        work_off_jobs()
    monkeypatch.setattr(FolderAdapter, "submit", submit)
    wait_is_over()
    work_off_jobs()
    Job.objects.filter(pk=job.pk).update(next_try=timezone.now())
    work_off_jobs()

    assert (again(job).state, again(job).cancel_requested) == (JobState.SENT, None)
    assert "stop it there" in again(job).message
    assert len(at_press(press)) == 1


def test_refused_and_disabled_providers_pass_the_jobs_of_a_sheet_on(shop, press, tmp_path, monkeypatch):
    other = make_provider(tmp_path, "other")
    rule = press.choices.get().rule
    rule.choices.create(provider=other, priority=2)
    refused, submit = order(shop), FolderAdapter.submit

    def refuses(self, job):
        if job.members:
            raise ProviderRefused("No such paper.")
        return submit(self, job)

    monkeypatch.setattr(FolderAdapter, "submit", refuses)
    wait_is_over()
    work_off_jobs()
    work_off_jobs()
    assert (again(refused).provider, again(refused).state) == (other, JobState.SENT)

    waiting = order(shop)
    assert again(waiting).gang_sheet is not None
    Provider.objects.filter(pk=press.pk).update(is_enabled=False)
    wait_is_over()
    work_off_jobs()
    work_off_jobs()
    assert (again(waiting).provider, again(waiting).state) == (other, JobState.SENT)
    assert set(GangSheet.objects.values_list("state", flat=True)) == {SheetState.CANCELLED}


def test_sheet_of_a_press_that_passes_its_checks_and_takes_nothing_passes_its_jobs_on(
    shop, press, tmp_path, monkeypatch
):
    other = make_provider(tmp_path, "other")
    press.choices.get().rule.choices.create(provider=other, priority=2)
    job, submit = order(shop), FolderAdapter.submit

    def is_full(self, job):
        if job.members:
            raise ProviderUnavailable("The disk is full.", is_unsent=True)
        return submit(self, job)

    monkeypatch.setattr(FolderAdapter, "submit", is_full)
    wait_is_over()
    work_off_jobs()
    assert review_failing_providers() == 1
    for waiting in (GangSheet, Job):
        waiting.objects.update(failing_since=timezone.now() - timedelta(seconds=21))
    wait_is_over()
    work_off_jobs()
    work_off_jobs()

    assert (again(job).provider, again(job).state) == (other, JobState.SENT)


def test_rules_are_read_once_for_all_jobs_of_a_sheet_whose_press_is_away(shop, press):
    """None of them has another provider, so that all stay."""
    jobs = [order(shop, quantity) for quantity in (100, 250, 500)]
    GangSheet.objects.update(tries=1)
    Provider.objects.update(failing_since=timezone.now() - timedelta(hours=1))
    with CaptureQueriesContext(connection) as statements:
        _, staying = _plan_sheet(GangSheet.objects.get().pk)

    assert staying == jobs
    assert sum('FROM "production_routingrule"' in statement["sql"] for statement in statements) == 1


def test_sheet_is_planned_reported_and_shown_without_templates(shop, press, client):
    """Each of its hundred jobs would have a copy."""
    jobs, sheet = [order(shop), order(shop, 250)], GangSheet.objects.get()
    client.force_login(shop.world.operator)
    change_page = reverse("admin:production_gangsheet_change", args=[sheet.pk])
    addresses = [reverse("admin:production_gangsheet_changelist"), change_page]
    with CaptureQueriesContext(connection) as statements:
        assert _plan_sheet(sheet.pk) == (sheet, jobs)
        receive_reports(
            provider=press, reports=[Report("at", sheet.number, JobState.ACKNOWLEDGED, timezone.now())]
        )
        assert [client.get(address).status_code for address in addresses] == [200, 200]

    assert large_reads(statements) == []


def test_person_sends_a_sheet_before_its_time(shop, press):
    job = order(shop)
    resend_job(job=job, actor=STORE)
    work_off_jobs()
    assert again(job).state == JobState.SENT


def test_held_order_takes_its_jobs_off_the_sheet(shop, press):
    job = order(shop)
    transition_order(order=Order.objects.get(pk=job.order_id), status=OrderStatus.ON_HOLD, actor=STORE)
    assert (again(job).held, again(job).gang_sheet) == ("Order", None)
    assert GangSheet.objects.get().state == SheetState.CANCELLED
    assert not Attempt.objects.exists()


def test_board_and_page_of_a_sheet_show_what_waits_and_send_it(shop, press, client):
    job, sheet = order(shop), GangSheet.objects.get()
    address = reverse("admin:production_gangsheet_change", args=[sheet.pk])
    client.force_login(shop.world.outsider)
    assert client.get(address).status_code != 200
    client.force_login(shop.world.operator)

    board = client.get(reverse("admin:production_job_changelist")).content.decode()
    page = client.get(address).content.decode()
    archive = b"".join(
        client.get(reverse("admin:production_gangsheet_files", args=[sheet.pk])).streaming_content
    )
    client.post(reverse("admin:production_gangsheet_send", args=[sheet.pk]))
    work_off_jobs()

    assert address in board
    assert job.number in page
    assert [name.rpartition(".")[2] for name in zipfile.ZipFile(io.BytesIO(archive)).namelist()] == [
        "pdf",
        "json",
    ]
    assert again(job).state == JobState.SENT


def test_sheet_takes_no_job_whose_file_would_make_it_too_large(shop, press, monkeypatch):
    first = order(shop)
    monkeypatch.setattr(members, "MAX_JOB_BYTES", 2 * first.item.print_bytes - 1)
    second = order(shop)

    assert again(first).gang_sheet != again(second).gang_sheet
    work_off_jobs()
    assert at_press(press) == [again(first).gang_sheet.number]


def test_sheet_of_large_files_says_why_it_is_not_downloaded(shop, press, client, monkeypatch):
    first, _ = order(shop), order(shop)
    sheet = again(first).gang_sheet
    client.force_login(shop.world.operator)
    for most, found in (
        (2 * first.item.print_bytes, ["pdf", "json"]),
        (first.item.print_bytes, ["txt"]),
    ):
        monkeypatch.setattr(archives, "MAX_ARCHIVE_BYTES", most)
        response = client.get(reverse("admin:production_gangsheet_files", args=[sheet.pk]))
        archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
        assert [name.rpartition(".")[2] for name in archive.namelist()] == found
    assert b"The provider gets the whole sheet." in archive.read("left-out.txt")


def test_earliest_day_of_its_jobs_is_that_of_the_sheet(shop, press, client):
    """On the list, on its page and in its ticket."""
    jobs = [order(shop) for _ in range(2)]
    first = timezone.localdate() - timedelta(days=30)
    Job.objects.filter(pk=jobs[1].pk).update(due=first)
    sheet = GangSheet.objects.get()
    client.force_login(shop.world.operator)
    for name, values in (("changelist", []), ("change", [sheet.pk])):
        page = client.get(reverse(f"admin:production_gangsheet_{name}", args=values)).content.decode()
        assert date_format(first, "DATE_FORMAT") in page

    wait_is_over()
    work_off_jobs()

    ticket = json.loads((Path(press.settings["folder"]) / f"{sheet}/{sheet}.json").read_bytes())
    assert ticket["ShipBy"] == min(job["ShipBy"] for job in ticket["Jobs"]) > first.isoformat()


def test_jobs_on_different_material_do_not_share():
    paper, vinyl = (made_job(options={"MediaType": kind}) for kind in ("Paper", "Vinyl"))
    request = GangRequest(paper.number, 88.9, 50.8, 3.175, 100, is_two_sided=True)

    assert sheet_kind(paper, request) != sheet_kind(vinyl, request)


def test_page_and_ticket_count_overs(shop, press, client):
    Provider.objects.update(settings=press.settings | {"gang_overs_percent": 5, "gang_overs_least": 40})
    order(shop)
    wait_is_over()
    work_off_jobs()

    [name] = Path(press.settings["folder"]).glob("G*/G*.json")
    ticket = json.loads(name.read_bytes())
    [file] = ticket["Files"]
    assert (file["Run"], file["Overs"], ticket["Sheets"]) == (45, 40, 45)
    assert ticket["WastePercent"] == round(100 * (1 - 100 / (45 * 21)), 1)
    client.force_login(shop.world.operator)
    sheet = GangSheet.objects.get()
    page = client.get(reverse("admin:production_gangsheet_change", args=[sheet.pk])).content.decode()
    assert f"1 layout, {file['Run']} sheets with overs, {ticket['WastePercent']}% waste" in page
