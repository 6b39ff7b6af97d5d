from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from delivery.datasets.populations import BASE, Populations
from delivery.datasets.problems import ProblemLog
from delivery.datasets.sources.aggregation import aggregate_routes
from delivery.datasets.sources.archives import open_file
from delivery.datasets.sources.cells import Source
from delivery.datasets.sources.tables import read_source


@dataclass
class Gathered:
    source: Source
    log: ProblemLog
    populations: Populations

    @property
    def routes(self) -> dict[str, tuple[int, int]]:
        return {
            code + route: divmod(counts, BASE)
            for code, routes in self.populations.items()
            for route, counts in routes.items()
        }

    @property
    def flaws(self) -> list[tuple[int, str]]:
        return [(line, code) for line, _, _, code in self.log.listed]


@pytest.fixture
def gather(tmp_path: Path) -> Callable[..., Gathered]:
    def run(content: bytes | str, **options) -> Gathered:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        log = ProblemLog()
        with open_file(path) as opened:
            source = read_source(opened, log, **options)
            populations, _ = aggregate_routes(source, log)
        return Gathered(source, log, populations)

    return run
