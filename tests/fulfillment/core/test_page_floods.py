"""150 connections of one person to pages of a running service, and what a reader of the API notices of them."""

import json
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
import requests
from django.test import Client

from tests.support.patience import PATIENCE
from tests.support.servers.live_server import ROOT, serving

FLOOD = 1_500
# Where pages have every thread, a read waits for an answer to each of the 150 connections.
MOST_BEFORE_A_READ = 50


def flooding(url, browser):
    """Its own process, at a low priority: it stands for other machines, and takes no time from the reader."""
    cookie = f"sessionid={browser.cookies['sessionid'].value}"
    command = ["nice", "-n", "19", sys.executable, "-m", "tests.support.servers.flood", "--path", "/mailings"]
    command += ["--cookie", cookie, "--port", str(urlsplit(url).port), "--count", str(FLOOD)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_pages_of_one_person_leave_the_api_to_others(world, tmp_path):
    """`make soak` measures it by the clock."""
    caller, browser = world.as_user(world.user), Client()
    browser.force_login(world.outsider)
    reader, reads = requests.Session(), 0
    reader.headers["Authorization"] = f"Bearer {caller.token}"
    reader.headers["Ocp-Apim-Subscription-Key"] = caller.key
    with serving(tmp_path, workers=2) as served, flooding(served.url, browser) as flood:
        while flood.poll() is None:
            assert reader.get(f"{served.url}/api/v1/store", timeout=PATIENCE).ok
            reads += 1
        statuses = json.loads(flood.stdout.read())

    assert set(statuses) == {"200", "429"}
    assert statuses["200"] <= 600
    assert sum(statuses.values()) == FLOOD
    assert reads * MOST_BEFORE_A_READ > FLOOD
