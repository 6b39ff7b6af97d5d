"""Every kind of worst-case caller in turn, each beside a good caller of a service just started."""

import contextlib
import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence

from tests.benchmarks.neighbours import raw
from tests.benchmarks.neighbours.anonymous import ANONYMOUS
from tests.benchmarks.neighbours.applications import APPLICATIONS
from tests.benchmarks.neighbours.callers import attacking, good_calls, report_of
from tests.benchmarks.neighbours.good_caller import LONGEST_SECONDS
from tests.benchmarks.neighbours.kinds import Kind
from tests.benchmarks.neighbours.operators import OPERATORS
from tests.benchmarks.neighbours.outcome import Marks, Outcome, table
from tests.benchmarks.neighbours.scene import CHEAP_READ, ORDERS, Scene, build_scene
from tests.benchmarks.neighbours.service import Service, serving
from tests.benchmarks.neighbours.users import ASSET, PROOF, QUOTE, USERS, letter, png
from tests.support.webhook_receiver import receiving
from tests.support.workers import forget_jobs

KINDS = {kind.name: kind for kind in (*ANONYMOUS, *USERS, *APPLICATIONS, *OPERATORS)}
CONNECTIONS, SECONDS, QUIET_SECONDS, PROCESSES = 8, 10.0, 3.0, 2
# Web and worker together; beyond it the attack ends, for the sake of the machine.
MAX_MEMORY = 4_000
SAMPLE_SECONDS = 0.25
SETTLED_SECONDS, SETTLE_TRIES = 0.5, 60


def measure(
    names: Sequence[str] = (),
    *,
    connections: int = CONNECTIONS,
    seconds: float = SECONDS,
    processes: int = PROCESSES,
    orders: int = ORDERS,
    marks: Marks | None = None,
    fresh: bool = True,
) -> list[str]:
    """`fresh` starts the service anew for each kind, so that none pays for the one before."""
    kinds = [KINDS[name] for name in names or KINDS]
    marks, outcomes = marks or Marks(), []
    with receiving() as receiver:
        scene = build_scene(receiver, orders=orders)
        for together in [[kind] for kind in kinds] if fresh else [kinds]:
            forget_jobs()
            with serving(processes=processes) as service:
                scene.url = service.server.url
                _warm_up(scene)
                for kind in together:
                    outcomes.append(_tried(kind, scene, service, connections, seconds))
                    print("  ".join(outcomes[-1].cells(marks)), flush=True)
    return _report(outcomes, marks, connections, seconds)


def _report(outcomes: Sequence[Outcome], marks: Marks, connections: int, seconds: float) -> list[str]:
    failed = [
        f"FAILED: {each.kind}: {', '.join(missed)}" for each in outcomes if (missed := each.missed(marks))
    ]
    lines = [
        f"{len(outcomes)} kinds of callers, {connections} connections for {seconds:g} s each, on "
        f"{os.cpu_count()} processors: {len(outcomes) - len(failed)} reached. Service and attacker: processor time."
    ]
    lines += [*table(outcomes, marks), *failed]
    print(*lines, sep="\n", flush=True)
    return lines


def _warm_up(scene: Scene) -> None:
    """What a running service has loaded in each of its threads and renderers is no cost of an attack.

    So there are as many connections as in an attack, of several users: one holds a share of the renderers only.
    """
    headers = {**scene.neighbour, "Content-Type": "image/png"}
    quote = {"Items": [{"ProductID": "plain-000", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
    requests = [
        raw.request("GET", CHEAP_READ, scene.neighbour),
        raw.request("GET", "/accounts/login/"),
        raw.request("POST", ASSET, headers, png(40, 40, 0)),
        raw.api("POST", PROOF, scene.neighbour, letter(f"Words {raw.UNIQUE}")),
        raw.api("POST", QUOTE, scene.neighbour, quote),
        raw.page("/admin/", scene.session("operator")),
    ]
    with contextlib.ExitStack() as running:
        for number, request in enumerate(requests):
            source = f"127.2.0.{number + 1}"
            warmed = attacking(scene, [request], source=source, connections=CONNECTIONS, seconds=2)
            running.callback(report_of, running.enter_context(warmed))


def _tried(kind: Kind, scene: Scene, service: Service, connections: int, seconds: float) -> Outcome:
    """A kind that cannot be measured misses its mark; the others are measured all the same."""
    try:
        return _beside(kind, scene, service, connections, seconds)
    except (OSError, RuntimeError) as error:
        return Outcome(kind.name, kind.caller, LONGEST_SECONDS, stopped=f"not measured: {error}"[:200])


def _beside(kind: Kind, scene: Scene, service: Service, connections: int, seconds: float) -> Outcome:
    scene.forget_webhooks()
    # What the kind before used of its caller's minute is no part of what this one prepares.
    scene.forget_limits()
    requests = kind.make(scene)
    _settle(scene)
    scene.forget_limits()
    with good_calls(scene, min(seconds, QUIET_SECONDS)) as good:
        quiet = report_of(good)
    outcome = Outcome(kind.name, kind.caller, statistics.median(took for _, took in quiet["read"]))
    before, computed = service.memory(), service.processor()
    source = f"127.1.0.{list(KINDS).index(kind.name) + 1}"
    with (
        attacking(
            scene, requests, source=source, connections=connections, seconds=seconds, pace=kind.pace
        ) as attack,
        good_calls(scene, seconds) as good,
    ):
        most = _watch(service, [attack, good], outcome)
        outcome.memory = {name: most[name] / max(before[name], 1) for name in before}
        outcome.service_seconds = service.processor() - computed
        if not outcome.stopped:
            noticed, done = report_of(good), report_of(attack)
            outcome.read, outcome.health = noticed["read"], noticed["health"]
            outcome.statuses = done["statuses"]
            outcome.attacker_seconds = done["processor"] + noticed["processor"]
    return outcome


def _watch(
    service: Service, callers: Sequence[subprocess.Popen[str]], outcome: Outcome
) -> Mapping[str, float]:
    """The most memory there was at one moment, of web and of worker, until the good caller's last answer."""
    most = service.memory()
    while not outcome.stopped and any(each.poll() is None for each in callers):
        time.sleep(SAMPLE_SECONDS)
        found = service.memory()
        most = {name: max(held, found[name]) for name, held in most.items()}
        if sum(found.values()) > MAX_MEMORY:
            outcome.stopped = f"stopped at {sum(found.values()):,.0f} MB"
            service.kill()
    return most


def _settle(scene: Scene) -> None:
    """What is left of the kind before, where they share a service, and of what `make` asked for is no part of it."""
    for _ in range(SETTLE_TRIES):
        with good_calls(scene, SETTLED_SECONDS) as good:
            found = report_of(good)
        if all(
            status == "200" and took < SETTLED_SECONDS for status, took in found["read"] + found["health"]
        ):
            return
    raise RuntimeError("the service does not come to rest")
