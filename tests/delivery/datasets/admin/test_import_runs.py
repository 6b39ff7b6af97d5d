import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from delivery.datasets.models import ImportRun
from delivery.datasets.selectors import live_dataset
from delivery.datasets.services.imports import import_upload
from delivery.datasets.services.retention import retention_rules
from tests.factories.delivery import SMALL, csv_lines
from tests.support.pages import text

LIST = "/admin/delivery/importrun/"
OPTIONS = {"format": "auto", "vintage": "2026-09", "types": "CRH", "max_reject": "0.5", "activate": "on"}


@pytest.fixture
def started(monkeypatch) -> list:
    """Processes are noted and not started."""
    commands = []

    class Process:
        def __init__(self, command, **options) -> None:
            commands.append(command)

        def wait(self) -> None:
            pass

    monkeypatch.setattr("delivery.datasets.services.imports.subprocess.Popen", Process)
    return commands


def upload(operator, *lines: str, header: str = "ZIP,CRRT,RES,BUS,TOT") -> ImportRun:
    content = "\n".join([header, *lines]).encode()
    response = operator.post(f"{LIST}add/", {"file": SimpleUploadedFile("small.csv", content)})
    run = ImportRun.objects.latest("pk")
    assert response.url == f"{LIST}{run.pk}/prepare/"
    return run


def test_upload_preview_import_report(operator, started):
    run = upload(operator, *csv_lines(SMALL), "501,H002,5,5,11", "x,C001,1,1,2")

    preview = text(operator.get(f"{LIST}{run.pk}/prepare/"))
    response = operator.post(f"{LIST}{run.pk}/prepare/", {**OPTIONS, "max_reject": "20", "start": "1"})

    assert "Read as csv." in preview
    assert '<option value="3" selected>RES</option>' in preview
    assert response.url == f"{LIST}{run.pk}/change/"
    assert started[0][-2:] == ["--run", str(run.pk)]
    waiting = text(operator.get(response.url))
    assert f'data-progress-url="{LIST}{run.pk}/progress/"' in waiting
    assert "delivery/progress.js" in waiting
    assert operator.get(f"{LIST}{run.pk}/progress/").json() == {
        "percent": 0,
        "text": "Waiting to start",
        "is_under_way": True,
    }

    import_upload(run_id=run.pk)

    report = text(operator.get(response.url))
    assert operator.get(f"{LIST}{run.pk}/progress/").json()["is_under_way"] is False
    assert [code for code in ("E_ZIP", "W_ZERO_LOST", "W_TOTAL") if code not in report] == []
    assert "Write 5 digits, or ZIP+4." in report
    problems = b"".join(operator.get(f"{LIST}{run.pk}/problems/").streaming_content).decode()
    assert problems.splitlines()[1].startswith("8,ZIP,501,W_ZERO_LOST")
    assert live_dataset().created_by == "operator"


def test_columns_are_chosen_by_hand(operator, started):
    run = upload(operator, "84101,C001,5,6,x", header="Place,Carrier,Homes,Firms,Other")
    chosen = {"column_zip": "1", "column_route": "2", "column_residential": "3", "column_business": "4"}

    unread = text(operator.get(f"{LIST}{run.pk}/prepare/"))
    refused = text(operator.post(f"{LIST}{run.pk}/prepare/", {**OPTIONS, "start": "1"}))
    preview = text(operator.post(f"{LIST}{run.pk}/prepare/", {**OPTIONS, **chosen}))

    assert "No column for zip, route, residential, business" in unread
    assert "No column for zip" in refused
    assert started == []
    assert "C001" in preview
    assert "No column" not in preview
    operator.post(f"{LIST}{run.pk}/prepare/", {**OPTIONS, **chosen, "start": "1"})
    import_upload(run_id=run.pk)
    assert (live_dataset().residential, live_dataset().business) == (5, 6)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"vintage": "2026"}, "must read YYYY-MM"),
        ({"types": "CX"}, "must be some of C, R, H and B"),
        ({"postal_code": "841"}, "Enter five digits."),
        ({"max_reject": "200"}, "less than or equal to 100"),
    ],
)
def test_options_that_make_no_sense(operator, started, values, says):
    run = upload(operator, *csv_lines(SMALL))

    shown = text(operator.post(f"{LIST}{run.pk}/prepare/", {**OPTIONS, **values, "start": "1"}))

    assert says in shown
    assert started == []


def test_spaces_around_options_are_dropped(operator, started):
    run = upload(operator, *csv_lines(SMALL))
    spaced = {"vintage": " 2026-09 ", "types": " CRH ", "postal_code": " 84101 ", "start": "1"}

    operator.post(f"{LIST}{run.pk}/prepare/", {**OPTIONS, **spaced})

    assert len(started) == 1
    options = ImportRun.objects.get().options
    assert (options["vintage"], options["types"], options["postal_code"]) == ("2026-09", "CRH", "84101")


def test_upload_is_thrown_away(operator):
    run = upload(operator, *csv_lines(SMALL))

    assert "Nothing was imported from it." in text(operator.post(f"{LIST}{run.pk}/throw-away/"))
    assert ImportRun.objects.exists()
    operator.post(f"{LIST}{run.pk}/throw-away/", {"confirmed": "1"})

    assert not ImportRun.objects.exists()


def test_import_that_died_is_shown_as_such(operator):
    run = ImportRun.objects.create(state="running", file_name="big.csv")
    ImportRun.objects.update(updated=run.updated.replace(year=2020))

    shown = operator.get(f"{LIST}{run.pk}/progress/").json()

    assert (shown["text"], shown["is_under_way"]) == ("Failed", False)
    assert "was interrupted" in text(operator.get(f"{LIST}{run.pk}/change/"))


def test_values_of_a_file_are_shown_as_text(operator):
    run = upload(operator, *csv_lines(SMALL), "<script>alert(1)</script>,C001,1,1,2")
    import_upload(run_id=run.pk)

    shown = operator.get(f"{LIST}{run.pk}/change/").content.decode()

    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown


def test_pages_have_no_script_of_their_own_inside(operator):
    run = ImportRun.objects.create(state="waiting", file_name="big.csv")

    shown = operator.get(f"{LIST}{run.pk}/change/").content.decode()

    own = shown[shown.index("data-progress-url") :]
    assert [body for body in re.findall(r"<script[^>]*>(.*?)</script>", own, re.DOTALL) if body.strip()] == []


def test_only_operators(operator, world):
    run = upload(operator, *csv_lines(SMALL))
    operator.force_login(world.user)

    for path in ("add/", f"{run.pk}/prepare/", f"{run.pk}/progress/", f"{run.pk}/problems/"):
        assert operator.get(LIST + path).status_code == 403
    assert operator.post(f"{LIST}{run.pk}/throw-away/").status_code == 403
    assert ImportRun.objects.exists()


def test_upload_whose_file_was_removed_by_its_age_opens(operator, started):
    run = upload(operator, *csv_lines(SMALL))
    ImportRun.objects.update(updated=timezone.now() - timedelta(days=400))
    [rule] = retention_rules()
    assert sum(rule.remove(10)) == 1

    page = text(operator.get(f"{LIST}{run.pk}/prepare/", follow=True))

    assert "nothing was loaded" in page
