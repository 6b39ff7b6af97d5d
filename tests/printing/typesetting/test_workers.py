import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import printing.typesetting.worker as renderer
from printing.bounded import RendererKilled, RenderingBusy
from printing.typesetting import (
    Field,
    RenderingFailed,
    RenderingTimedOut,
    ValuesInvalid,
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
    render_proof,
    resolve_values,
    runs,
    workers,
)
from printing.typesetting.workers import Worker, Workers, shared_workers
from tests.support.patience import PATIENCE, least_seconds
from tests.support.printing.made_templates import (
    DEMO,
    card,
    hard_texts,
    text_box,
    unread_artwork,
    words_template,
)

PATTERN = (
    '<pattern id="{0}" width="1" height="1" patternUnits="userSpaceOnUse">'
    '<rect width="90" height="50" fill="url(#{1})"/><circle r="40" fill="url(#{1})"/></pattern>'
)
CLIP = (
    '<clipPath id="{0}"><rect width="90" height="50" clip-path="url(#{1})"/>'
    '<circle r="40" clip-path="url(#{1})"/></clipPath>'
)


def endless_template(definition, attribute):
    # Each level draws the next one twice: legal, small, and 2^24 shapes.
    levels = "".join(definition.format(f"a{level}", f"a{level + 1}") for level in range(24))
    body = f'<defs>{levels}</defs><rect width="95" height="57" {attribute}="url(#a0)"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8">{body}</svg>'
    # The reader refuses it by its references; the renderers' own limits are what is tried here.
    return unread_artwork(svg, text_box())


@pytest.mark.slow
@pytest.mark.parametrize(("definition", "attribute"), [(PATTERN, "fill"), (CLIP, "clip-path")])
def test_endless_artwork_costs_an_error_and_not_the_service(definition, attribute):
    template = endless_template(definition, attribute)

    def render() -> None:
        with pytest.raises(RenderingTimedOut):
            render_proof(template, {"Words": "x"}, seconds=0.8)

    assert least_seconds(render, mark=5) < 5
    assert render_proof(words_template(), {"Words": "still here"}).pages


@pytest.fixture
def little_memory(monkeypatch):
    """Renderers that may have 400 MB, so that the test needs no more than these."""
    monkeypatch.setattr(workers, "MEMORY_BYTES", 400 << 20)
    own = Workers(limit=1)
    monkeypatch.setattr(runs, "shared_workers", own)
    yield own
    own.close()


def layered_template():
    """Small and legal: each group in a group is a picture of the whole page, 64 MB on a banner."""
    body = '<g opacity=".9"><rect width="999" height="999"/>' * 40 + "</g>" * 40
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1006 1006">{body}</svg>'
    value = card(text_box(), Background="a.svg", WidthMM=1000, HeightMM=1000)
    artwork = {"a.svg": {"MediaType": "image/svg+xml", "Data": svg}}
    return parse_template(value | {"Artwork": artwork}, [Field("Words")])


@pytest.mark.slow
def test_memory_overrun_costs_an_error_and_not_the_worker(little_memory):
    # Long before its time, whose end would be another error.
    with pytest.raises(RenderingFailed, match="its memory or its stack ran out"):
        render_proof(layered_template(), {"Words": "x"}, seconds=PATIENCE)

    assert render_proof(words_template(), {"Words": "still here"}).pages


@pytest.mark.slow
def test_threads_get_their_own_results():
    template = words_template(Font="Oswald", Size=30)
    alone = {text: render_proof(template, {"Words": text}) for text in "ABCDEF"}

    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda text: (text, render_proof(template, {"Words": text})), "ABCDEF" * 5))

    assert all(proof == alone[text] for text, proof in together)


def end_in_the_middle(number: signal.Signals) -> None:
    deadline = time.monotonic() + PATIENCE
    with shared_workers.lend(deadline) as worker:
        os.kill(worker.process.pid, number)
        worker.receive(deadline)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSYS])
def test_renderer_killed_in_the_middle_is_no_fault_of_the_template(caplog, number):
    with pytest.raises(RendererKilled, match=number.name):
        end_in_the_middle(number)

    assert f"killed by the system ({number.name})" in caplog.text

    assert render_proof(words_template(), {"Words": "two"}).pages


def test_killed_worker_is_replaced():
    render_proof(words_template(), {"Words": "one"})
    with shared_workers.lend(time.monotonic() + PATIENCE) as worker:
        pid = worker.process.pid
        os.kill(pid, 9)
        worker.process.wait(PATIENCE)

    assert render_proof(words_template(), {"Words": "two"}).pages


RENDER_FROM_A_LARGE_PROCESS = """
import time
from tests.support.printing.made_templates import words_template
from printing.typesetting import render_proof
from printing.typesetting.workers import PEAK_KIB, shared_workers

ballast = b"x" * (PEAK_KIB * 1024 + (64 << 20))
pids = []
for words in "ab":
    render_proof(words_template(), {"Words": words})
    with shared_workers.lend(time.monotonic() + 240) as worker:
        pids.append(worker.process.pid)
print(len(set(pids)))
"""


@pytest.mark.slow
def test_renderers_let_requests_go_first():
    assert render_proof(words_template(), {"Words": "begun"}).pages

    begun = [worker for worker in shared_workers._idle if worker.renderings]
    nice = {os.getpriority(os.PRIO_PROCESS, worker.process.pid) for worker in begun}
    assert nice == {min(19, os.getpriority(os.PRIO_PROCESS, 0) + renderer.NICENESS)}


def test_renderer_of_a_large_web_process_is_kept():
    large_process = [sys.executable, "-c", RENDER_FROM_A_LARGE_PROCESS]

    run = subprocess.run(large_process, capture_output=True, text=True, check=True)

    assert run.stdout == "1\n"


@pytest.mark.parametrize("status", [None, b"Name:\tpython\nVmRSS:\t   40000 kB\n"])
def test_renderer_works_where_the_kernel_reports_no_peak(monkeypatch, tmp_path, status):
    monkeypatch.setattr(renderer, "STATUS", tmp_path / "status")
    if status:
        renderer.STATUS.write_bytes(status)

    assert renderer._peak_kib() > 1000


@pytest.mark.parametrize("asked_to_stop", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_the_whole_group_leaves_renderers_at_work(asked_to_stop):
    render_proof(words_template(), {"Words": "one"})
    with shared_workers.lend(time.monotonic() + PATIENCE) as worker:
        worker.process.send_signal(asked_to_stop)
        with pytest.raises(subprocess.TimeoutExpired):
            worker.process.wait(0.2)

    assert render_proof(words_template(), {"Words": "two"}).pages
    assert worker.process.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("asked_to_stop", [signal.SIGINT, signal.SIGTERM])
def test_signal_does_not_end_a_renderer_that_only_begins(asked_to_stop):
    worker = Worker(slot=0)
    try:
        worker.process.send_signal(asked_to_stop)
        with pytest.raises(subprocess.TimeoutExpired):
            worker.process.wait(1)
    finally:
        worker.close()


def test_renderer_that_aborts_in_the_middle_costs_an_error():
    with pytest.raises(RenderingFailed, match="ended"):
        end_in_the_middle(signal.SIGABRT)


@contextlib.contextmanager
def lent_elsewhere(own):
    """A worker in the hands of another thread."""
    taken, done = threading.Event(), threading.Event()

    def borrow():
        with own.lend(time.monotonic() + PATIENCE):
            taken.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=borrow)
    thread.start()
    assert taken.wait(PATIENCE)
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_caller_waits_no_longer_than_its_time():
    with (
        contextlib.closing(Workers(limit=1)) as own,
        lent_elsewhere(own),
        pytest.raises(RenderingBusy),
        own.lend(time.monotonic() + 0.05),
    ):
        pytest.fail("lent twice")


def test_second_worker_is_lent_only_to_a_caller_alone():
    with contextlib.closing(Workers(limit=3)) as own, own.lend(time.monotonic() + PATIENCE):
        with own.lend_second() as second:
            assert second is not None
        with lent_elsewhere(own), own.lend_second() as second:
            assert second is None


def test_second_worker_that_cannot_be_started_is_done_without(monkeypatch):
    with contextlib.closing(Workers(limit=3)) as own, own.lend(time.monotonic() + PATIENCE):
        monkeypatch.setattr(workers, "Worker", lambda slot: open("/no/such/program"))  # noqa: PTH123, SIM115
        with own.lend_second() as second:
            assert second is None
        assert len(own._slots) == 2


def test_one_core_has_no_second_worker():
    with contextlib.closing(Workers(limit=2)) as own, own.lend(time.monotonic() + PATIENCE):
        with own.lend_second() as second:
            assert second is None
        assert own._idle == []


def test_worn_out_worker_ends_and_leaves_its_place():
    with contextlib.closing(Workers(limit=1)) as own:
        with own.lend(time.monotonic() + PATIENCE) as worker:
            worker.needs_replacement = True

        assert worker.process.poll() == -signal.SIGKILL
        with own.lend(time.monotonic() + PATIENCE) as other:
            assert other.process.poll() is None


def test_proof_by_two_workers_is_that_of_one(monkeypatch, one_renderer):
    template = words_template(Font="Oswald", Size=30)
    template = replace(template, pages=template.pages * runs.SHARED_PAGES)
    alone = render_proof(template, {"Words": "one"})
    with contextlib.closing(Workers(limit=3)) as own:
        monkeypatch.setattr(runs, "shared_workers", own)
        runs.drawn_pages.clear()

        assert render_proof(template, {"Words": "one"}) == alone
        assert [worker.renderings for worker in own._idle] == [1, 1]


def test_text_that_does_not_fit_costs_no_worker(monkeypatch):
    template = words_template(Size=30, MinimumSize=30)
    with contextlib.closing(Workers(limit=3)) as own:
        monkeypatch.setattr(runs, "shared_workers", own)
        render_proof(template, {"Words": "x"})
        for _ in range(3):
            with pytest.raises(ValuesInvalid):
                render_proof(template, {"Words": "W" * 14})

        assert sum(worker.renderings for worker in own._idle) > 3
        assert all(worker.process.poll() is None for worker in own._idle)


def test_waiting_caller_gets_the_next_free_worker():
    workers = Workers(limit=1)
    lent = threading.Event()

    def borrow():
        with workers.lend(time.monotonic() + PATIENCE):
            lent.set()

    with workers.lend(time.monotonic() + PATIENCE):
        waiting = threading.Thread(target=borrow)
        waiting.start()
        assert not lent.wait(0.05)
    waiting.join(PATIENCE)
    assert lent.is_set()
    workers.close()


@pytest.fixture
def one_renderer(monkeypatch):
    """It draws every page: none is left from other tests."""
    runs.drawn_pages.clear()
    own = Workers(limit=1)
    monkeypatch.setattr(runs, "shared_workers", own)
    yield own
    own.close()


@pytest.mark.slow
def test_hard_texts_leave_little_in_the_memory_of_a_renderer(one_renderer):
    """Typst keeps what it laid out for its next ten compilations: 100 MB of these texts, 32 MB of them a font."""
    folder = DEMO / "letterhead-8.5x11"
    template = parse_template(load_template_folder(folder), load_fields(folder))
    with contextlib.suppress(ValuesInvalid):
        render_proof(template, {"Company": "Company", "Contact": "Contact", "Letter": "W"})
    before = renderer_memory(one_renderer)
    for number, text in enumerate(hard_texts(19_900)):
        with contextlib.suppress(ValuesInvalid):
            render_proof(template, {"Company": f"Company {number}", "Contact": text[:200], "Letter": text})

    assert renderer_memory(one_renderer) - before < 78


@pytest.mark.slow
def test_renderer_gives_back_the_memory_of_a_booklet(one_renderer):
    """Most pages are not drawn again, so keeping their layout saves 3 of 50 ms of processor time."""
    held = []
    # What a rendering leaves behind is looked at after its answer, so a card follows.
    for name in ("business-card-standard", *["booklet-8-page-5.5x8.5"] * 3, "business-card-standard"):
        fields = load_fields(DEMO / name)
        template = parse_template(load_template_folder(DEMO / name), fields)
        render_proof(template, resolve_values(fields, load_sample(DEMO / name), template.gallery))
        held.append(renderer_memory(one_renderer))

    # Laid out it takes 40 MB.
    assert held[-1] - held[0] < 25


def renderer_memory(own):
    """In MB."""
    [only] = own._idle
    status = Path(f"/proc/{only.process.pid}/status").read_text("ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
