"""Memory of large bodies goes back to the machine; in a process of its own, for it changes the allocator."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PROGRAM = """
import threading
from rest_framework.exceptions import ParseError
from fulfillment.core.api.parsing import check_structure
from fulfillment.core.memory import return_freed_memory

def held():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

bodies = [b"[" * 900_000, b"[" * 450_000 + b"]" * 450_000, b'{"a":' * 180_000, b"[" * 30 + b"[]," * 290_000]

def refuse(first):
    for number in range(6):
        body = bytes(bytearray(bodies[(first + number) % 4]))
        try:
            check_structure(body)
        except ParseError:
            pass

print(return_freed_memory())
before = held()
threads = [threading.Thread(target=refuse, args=(number,)) for number in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(held() - before)
"""


def test_large_bodies_that_were_refused_leave_nothing_behind():
    """Eight threads kept 200 MB of a few dozen bodies that glibc held for them."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    is_set, kilobytes = result.stdout.split()

    assert is_set == "True"
    assert int(kilobytes) < 30_000
