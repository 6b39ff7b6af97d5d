"""Small inputs of every kind, and loaded data sets."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from delivery.datasets.models import Dataset
from delivery.datasets.populations import Populations, pack
from delivery.datasets.services.datasets import Origin, activate_dataset, store_populations

HEADER = "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT"
SMALL: Populations = {
    "84101": {"C001": pack(600, 40), "C002": pack(500, 0), "B001": pack(80, 9), "G001": pack(0, 0)},
    "84102": {"R001": pack(300, 5)},
    "00501": {"H001": pack(1, 2)},
}


def load_dataset(
    populations: Populations = SMALL,
    *,
    active: bool = True,
    types: str = "CRH",
    vintage: date = date(2026, 10, 1),
    is_synthetic: bool = False,
    concerns: tuple[str, ...] = (),
) -> Dataset:
    origin = Origin(vintage, "csv", "small.csv", "0" * 64, created_by="tests", is_synthetic=is_synthetic)
    dataset = store_populations(populations=populations, route_types=types, origin=origin, concerns=concerns)
    return activate_dataset(dataset_id=dataset.pk, by="tests") if active else dataset


def write_csv(
    path: Path, *lines: str, header: str = HEADER, end: str = "\n", encoding: str = "utf-8"
) -> Path:
    path.write_bytes((end.join([header, *lines]) + end).encode(encoding))
    return path


def csv_lines(populations: Populations) -> list[str]:
    return [
        f"{code},{route},{counts // 100_000},{counts % 100_000},{counts // 100_000 + counts % 100_000}"
        for code, routes in populations.items()
        for route, counts in routes.items()
    ]


def gis_answer(
    *attributes: dict[str, object], results: bool = True, shapes: Sequence[dict[str, object]] = ()
) -> str:
    shapes = shapes or [{"paths": [[[-111.9, 40.7], [-111.8, 40.6]]]}] * len(attributes)
    features = [
        {"attributes": each, "geometry": shape} for each, shape in zip(attributes, shapes, strict=True)
    ]
    layer = {"features": features, "spatialReference": {"wkid": 4326}}
    return json.dumps({"results": [{"paramName": "out", "value": layer}]} if results else layer)


def delstat_header(vintage: str = "11-25") -> bytes:
    return b"C" + b" " * 18 + vintage.encode() + b" " * 285


def delstat_record(
    postal_code: str, route: str, business: dict[int, int], residential: dict[int, int], general: int = 0
) -> bytes:
    """Counts by their place within the twelve of their kind."""
    active = [business.get(at, 0) for at in range(12)] + [residential.get(at, 0) for at in range(12)]
    counts = "".join(f"{count:05d}" for count in [*active, general, *([7] * 25), 1, 2, 3])
    record = f"D{postal_code}{'X' * 10}A{route}{counts}{'123456'}UT035{'V' * 12}"
    assert len(record) == 309
    return record.encode()
