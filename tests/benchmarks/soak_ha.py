"""Parts of an installation of docs/deploy/ha fail one after the other under load: what clients see, what is left."""

import tempfile
from pathlib import Path

MARK = (
    "nothing lost, nothing doubled, no error for clients/python; writes refused for at most 30 s when the primary's "
    "machine is lost, 10 s when PostgreSQL crashes, 3 s at a switchover"
)


def measure(rounds: int = 1) -> list[str]:
    from tests.support import ha_faults
    from tests.support.client_library import build, install_python

    lines = []
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="ha-service-", dir="/tmp") as name:
            folder = Path(name)
            install_python(build(folder / "client", "python"), folder / "library")
            with ha_faults.scene(folder, folder / "library") as scene:
                outcomes = []
                for fault in ha_faults.FAULTS:
                    outcomes.append(ha_faults.outcome_of(scene, fault))
                    print(ha_faults.table(outcomes)[-1], flush=True)
                left = ha_faults.failures_at_the_end(scene)
                print(f"round {number + 1}: {len(scene.load.orders)} orders acknowledged", flush=True)
        lines += [f"FAILED: {one.fault}: {each}" for one in outcomes for each in one.failures[:10]]
        lines += [f"FAILED: at the end: {each}" for each in left[:10]]
    print(*lines, sep="\n", flush=True)
    return lines
