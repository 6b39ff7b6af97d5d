"""Parts of an installation of docs/deploy/ha fail one after the other under load: what clients see, what is left."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

MARK = (
    "nothing lost, nothing doubled, no error for clients/python; writes refused for at most 30 s when the primary's "
    "machine is lost, 10 s when PostgreSQL crashes, 3 s at a switchover"
)


def measure(count: int = 1) -> Iterator[str]:
    from tests.support.cluster import faults as ha_faults
    from tests.support.servers.client_library import build, install_python

    for number in range(count):
        with tempfile.TemporaryDirectory(prefix="ha-service-", dir="/tmp") as name:
            folder = Path(name)
            install_python(build(folder / "client", "python"), folder / "library")
            with ha_faults.scene(folder, folder / "library") as scene:
                outcomes = []
                for fault in ha_faults.FAULTS:
                    outcomes.append(ha_faults.outcome_of(scene, fault))
                    yield ha_faults.table(outcomes)[-1]
                left = ha_faults.failures_at_the_end(scene)
                yield f"round {number + 1}: {len(scene.load.orders)} orders acknowledged"
        yield from (
            f"FAILED: {outcome.fault}: {each}" for outcome in outcomes for each in outcome.failures[:10]
        )
        yield from (f"FAILED: at the end: {each}" for each in left[:10])
