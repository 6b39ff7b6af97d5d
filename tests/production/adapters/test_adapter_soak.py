"""Jobs through each adapter while one call in ten meets a fault: none lost, none doubled at the press."""

import errno
import random
import shutil
import threading
from collections import Counter
from ipaddress import ip_network

import pytest

from production.adapters.sftp import SftpAdapter, SftpSettings
from production.adapters.siteflow import SiteFlowAdapter, SiteFlowSettings
from production.interface import ProviderUnavailable
from tests.support.cases import cases
from tests.support.production.jobs import job_file, made_job
from tests.support.production.sftp_server import PASSWORD, cut, cut_before, running_sftp_server
from tests.support.production.siteflow import SECRET, running_siteflow

JOBS, MAX_TRIES = cases(20, 200), 12
NUMBERS = [f"{1000 + at}-1" for at in range(JOBS)]


@pytest.fixture(autouse=True)
def loopback(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


def _submit(adapter, number, after):
    """As the outbox does: the same job until the provider has it."""
    for _ in range(MAX_TRIES):
        try:
            return adapter.submit(
                made_job(number, files=[job_file(f"{number}.pdf", url="https://x.example/1.pdf")])
            )
        except ProviderUnavailable:
            continue
        finally:
            after()
    raise AssertionError(f"{number} was never taken")


def _disk_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def _faults(chance, *acts):
    """One job in ten meets one, somewhere on its way; of few jobs, one in three."""
    return lambda *given: chance.choice(acts)(*given) if chance.random() < cases(4, 1) * 0.012 else None


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["job_folder", "flat"])
def test_sftp_jobs_arrive_once_each(tmp_path, layout):
    chance, taken = random.Random(7), Counter()
    with running_sftp_server(tmp_path) as press:
        press.fault = _faults(chance, cut_before, _disk_full)
        press.fault_after = _faults(chance, cut)

        def take():
            """The press takes what is complete, at any moment."""
            for path in list((press.root / "in").iterdir()):
                if path.name.startswith(".") or chance.random() < 0.5:
                    continue
                taken[path.name] += 1
                shutil.rmtree(path) if path.is_dir() else path.unlink()

        adapter = SftpAdapter(SftpSettings(press.settings(layout=layout)).read(), {"password": PASSWORD})
        for number in NUMBERS:
            _submit(adapter, number, take)
        for path in (press.root / "in").iterdir():
            if not path.name.startswith("."):
                taken[path.name] += 1
        assert press.connections > JOBS
        quantities = (
            NUMBERS
            if layout == "job_folder"
            else [f"{n}.{e}" for n in NUMBERS for e in ("pdf", "xjdf", "json")]
        )
        assert taken == Counter(quantities)


@pytest.mark.slow
def test_siteflow_orders_are_taken_once_each():
    chance, lock = random.Random(7), threading.Lock()
    with running_siteflow() as flow:

        def fault(method, path, moment):
            with lock:
                if chance.random() >= 0.05:
                    return None
                return chance.choice([429, 503, "cut"] if moment == "before" else ["cut"])

        flow.fault = fault
        adapter = SiteFlowAdapter(
            SiteFlowSettings(flow.settings(), has_secrets=False).read(), {"secret": SECRET}
        )
        for number in NUMBERS:
            _submit(adapter, number, lambda: None)
        assert sorted(flow.orders) == sorted(NUMBERS)
        assert len(flow.requests) > 2 * JOBS
