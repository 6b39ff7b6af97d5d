"""The suite's own hostile and described requests in numbers for a night, and the minute of wrong secrets."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping

from tests.benchmarks.soak_scene import ROOT

HOSTILE = 10_000
# For each operation and caller: about 20,000 requests in all.
EXAMPLES = 150
HOSTILE_MARK = "0 x 5xx"
DESCRIBED_MARK = "about 20,000 requests, 0 x 5xx, no answer that the description lacks"
SECRETS_MARK = "good clients' p99 below twice the usual"
# The tests have settings and a database of their own.
_ENVIRONMENT = dict(os.environ)


def measure_hostile(cases: int = HOSTILE) -> list[str]:
    return _test(
        "tests/fulfillment/test_doors.py", "hostile_requests", {"FULFILLMENT_HOSTILE_CASES": str(cases)}
    )


def measure_described(examples: int = EXAMPLES) -> list[str]:
    variables = {"FULFILLMENT_FUZZ_EXAMPLES": str(examples)}
    return _test("tests/fulfillment/api/test_schemathesis.py", "answers_are_those_described", variables)


def measure_secrets() -> list[str]:
    command = [sys.executable, "-m", "tests.benchmarks.wrong_secrets"]
    failed = subprocess.run(command, cwd=ROOT, env=_ENVIRONMENT, check=False).returncode
    return ["FAILED: good clients notice wrong secrets"] if failed else []


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
    requests = re.search(r"^\d+ requests in this process$", done.stdout, re.MULTILINE)
    result = done.stdout.strip().splitlines()[-1]
    print(f"{said}: {result}; {requests[0] if requests else ''}", flush=True)
    return []
