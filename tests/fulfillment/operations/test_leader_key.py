"""A primary that was frozen past its lease does not take its place back: Patroni and etcd with the shipped files."""

import re
import subprocess

import pytest

from tests.support.cluster.programs import make_folder, require_packages, shipped, start
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.ports import free_port

pytestmark = pytest.mark.slow

SECONDS = 3
# By Debian's own Python, which has Patroni.
FROZEN = """
import sys, time, yaml
from patroni.dcs import get_dcs

def machine(name):
    with open(sys.argv[1]) as file:
        settings = yaml.safe_load(file)
    store = {key: value for key, value in settings.items() if key.startswith("etcd")}
    times = {"ttl": int(sys.argv[2]), "loop_wait": 1, "retry_timeout": 5}
    return get_dcs({"scope": settings["scope"], "name": name, **times, **store})

old, new = machine("db1"), machine("db2")
for one in (old, new):
    one.touch_member({"role": "replica", "state": "running"})
assert old.attempt_to_acquire_leader()
assert old.get_cluster().leader.name == "db1"
# What the primary knows is from before it was frozen.
time.sleep(2 * int(sys.argv[2]))
assert new.attempt_to_acquire_leader()
print("goes on:", bool(old.update_leader(None)))
print("leader:", new.get_cluster().leader.name)
"""


@pytest.fixture
def patroni_settings(tmp_path):
    """The shipped patroni.yml with an etcd of the shipped settings; of one member."""
    require_packages("patroni", "etcd")
    clients, peers = free_port(), free_port()
    folder = make_folder(tmp_path / "db1", None)
    text = shipped("etcd.env", {"/var/lib/etcd/fulfillment": str(folder / "data")})
    text = re.sub(r"(?m)^(ETCD_INITIAL_CLUSTER)=.*", r"\1=db1=http://db1:2380", text)
    for old, new in {"2379": clients, "2380": peers}.items():
        text = re.sub(rf"(0\.0\.0\.0|db1):{old}", f"127.0.0.1:{new}", text)
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    etcd = start(["etcd"], folder, None, dict(line.split("=", 1) for line in lines))
    wait_for(lambda: "ready to serve client requests" in (folder / "etcd.output").read_text())
    path = tmp_path / "patroni.yml"
    path.write_text(shipped("patroni.yml", {"db1:2379,db2:2379,db3:2379": f"127.0.0.1:{clients}"}))
    yield path
    etcd.kill()
    etcd.wait(PATIENCE)


def test_frozen_primary_does_not_take_its_place_back(patroni_settings):
    result = subprocess.run(
        ["/usr/bin/python3", "-c", FROZEN, str(patroni_settings), str(SECONDS)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert result.stdout.splitlines() == ["goes on: False", "leader: db2"], result.stderr
