"""What runs in processes with databases of their own: the suite's hostile and described requests in numbers for a
night, the minute of wrong secrets, and the accidents of workers and PostgreSQL.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping

from tests.benchmarks.soak_scene import ROOT

HOSTILE = 10_000
# For each operation and caller, and ways along links for each caller: more than 20,000 requests in all.
EXAMPLES, WALKS = 75, 100
HOSTILE_MARK = "0 x 5xx"
DESCRIBED_MARK = "20,000 requests at least, 0 x 5xx, no failure of any check that no rule explains"
SECRETS_MARK = "good clients' p99 below twice the usual"
# Of each client library.
ORDERS = 500
NETWORK_MARK = "as many orders as requested, none twice, by both client libraries"
CRASHES_MARK = "no event lost, the last arrives within 60 s of the last accident"
# By tests.benchmarks.request_count.
SUMMARY = r"(?m)^(?:\d+ requests in|explained \d+|\d+ steps along) .*$"
# The tests have settings and a database of their own.
_ENVIRONMENT = dict(os.environ)


def measure_hostile(cases: int = HOSTILE) -> list[str]:
    return _test(
        "tests/fulfillment/core/test_interfaces.py",
        "hostile_requests",
        {"FULFILLMENT_HOSTILE_CASES": str(cases)},
    )


def measure_described(examples: int = EXAMPLES, walks: int = WALKS) -> list[str]:
    variables = {"FULFILLMENT_FUZZ_EXAMPLES": str(examples), "FULFILLMENT_FUZZ_WALKS": str(walks)}
    return _test("tests/fulfillment/core/api/test_schemathesis.py", "answers_are_those_described", variables)


def measure_network(orders: int = ORDERS) -> list[str]:
    variables = {"FULFILLMENT_UNRELIABLE_ORDERS": str(orders), "NODE_TESTS": "required"}
    return _test("tests/clients/test_retries.py", "unreliable_network", variables)


def measure_secrets() -> list[str]:
    return _module("wrong_secrets", "good clients notice wrong secrets")


def measure_crashes() -> list[str]:
    return _module("crashes", "events are lost or late after accidents")


def _module(name: str, failure: str) -> list[str]:
    command = [sys.executable, "-m", f"tests.benchmarks.{name}"]
    failed = subprocess.run(command, cwd=ROOT, env=_ENVIRONMENT, check=False).returncode
    return [f"FAILED: {failure}"] if failed else []


def _test(path: str, name: str, variables: Mapping[str, str]) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "tests.benchmarks.request_count"]
    done = subprocess.run(
        [*command, "-k", name, path],
        cwd=ROOT,
        env=_ENVIRONMENT | variables,
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    said = ", ".join(f"{name}={value}" for name, value in variables.items())
    if done.returncode:
        print(done.stdout)
        return [f"FAILED: {path} with {said}"]
    print(f"{said}: {done.stdout.strip().splitlines()[-1]}")
    print(*re.findall(SUMMARY, done.stdout), sep="\n", flush=True)
    return []
