"""Reads and validates the populations of a file; writes nothing."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from delivery.datasets.details import Details
from delivery.datasets.models.dataset import Dataset, month_of
from delivery.datasets.populations import SELECTABLE_TYPES, Populations, Totals, count_totals
from delivery.datasets.problems import BadRouteFile, ProblemLog
from delivery.datasets.selectors import live_dataset, stored_populations
from delivery.datasets.services.datasets import Origin, UnchangedRoutes, activation_warnings
from delivery.datasets.sources.aggregation import aggregate_routes
from delivery.datasets.sources.archives import OpenedFile, PreviewEnded, open_file
from delivery.datasets.sources.cells import Row, Source
from delivery.datasets.sources.tables import likely_delimiter, read_source
from fulfillment.core.errors import Invalid

VINTAGE = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
VINTAGE_IN_NAME = re.compile(r"(?<![0-9])(20[0-9]{2})-?(0[1-9]|1[0-2])(?![0-9])")
PREVIEWED = 20
INVENTED = "The counts in the file are invented (synthetic). Do not use them for a real mailing."


@dataclass(frozen=True)
class ImportOptions:
    """Options of an import; `vintage` as YYYY-MM or empty."""

    format: str = "auto"
    vintage: str = ""
    types: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    postal_code: str = ""
    merge: bool = False
    activate: bool = True
    max_reject: float = 0.5
    force: bool = False
    is_synthetic: bool = False

    def __post_init__(self) -> None:
        if self.vintage:
            read_vintage(self.vintage)
        read_types(self.types)

    @property
    def route_types(self) -> str:
        return read_types(self.types)


@dataclass
class ParsedFile:
    """The result of reading a file. In a merge `populations` include the live ones, and `unchanged` names their set."""

    origin: Origin
    populations: Populations
    totals: Totals
    rows: int
    log: ProblemLog
    notes: list[str]
    concerns: list[str]
    details: Details | None = None
    unchanged: UnchangedRoutes | None = None


@dataclass(frozen=True)
class Preview:
    format: str
    header: list[str]
    columns: dict[str, int]
    rows: list[tuple[Any, ...]]
    vintage: str
    error: str = ""


def read_file(
    *,
    path: Path,
    name: str,
    options: ImportOptions,
    log: ProblemLog,
    by: str = "",
    progress: Callable[[str, float, ProblemLog, int], None] = lambda *state: None,
) -> ParsedFile:
    with open_file(path, name) as file:
        source = read_source(
            file,
            log,
            format_name=options.format,
            choices=options.columns,
            postal_code=options.postal_code,
        )
        populations, rows = aggregate_routes(
            source, log, lambda count: progress("reading", file.share_read, log, count)
        )
        rows += log.counts["E_SHAPE"]
        if not populations:
            raise BadRouteFile(_nothing_readable(rows, log))
        reading = _validate_source(file, source, populations, rows, options, log)
    reading.origin = replace(reading.origin, created_by=by)
    return reading


def preview_file(*, path: Path, name: str, options: ImportOptions) -> Preview:
    """The first lines as the import would read them; an unreadable file is described, not refused."""
    log = ProblemLog()
    try:
        with open_file(path, name, is_preview=True) as file:
            source = read_source(file, log, format_name=options.format, choices=options.columns)
            rows: list[Row] = []
            with suppress(PreviewEnded):
                rows.extend(row[:6] for row in islice(source.rows, PREVIEWED))
            vintage, _ = _find_vintage(options, source, name, path)
            return Preview(source.format, source.header, source.columns, rows, f"{vintage:%Y-%m}")
    except BadRouteFile as refusal:
        vintage, _ = _find_vintage(options, None, name, path)
        return Preview("", _first_cells(path, name), {}, [], f"{vintage:%Y-%m}", refusal.message)


def read_vintage(text: str) -> date:
    match = VINTAGE.fullmatch(text.strip())
    if match is None:
        raise Invalid.at("vintage", "vintage_invalid", f"The vintage {text!r} must read YYYY-MM.")
    return date(int(match[1]), int(match[2]), 1)


def read_types(text: str) -> str:
    """Route types in their standard order; empty means those of the setting."""
    types = (text or settings.EDDM_ROUTE_TYPES).upper()
    if not types or set(types) - set(SELECTABLE_TYPES):
        raise Invalid.at("types", "types_invalid", f"The route types {text!r} must be some of C, R, H and B.")
    return "".join(letter for letter in SELECTABLE_TYPES if letter in types)


def _validate_source(
    file: OpenedFile,
    source: Source,
    populations: Populations,
    rows: int,
    options: ImportOptions,
    log: ProblemLog,
) -> ParsedFile:
    vintage, vintage_note = _find_vintage(options, source, file.name, Path(file.packed.name))
    notes = [*source.notes, *([f"Vintage {vintage:%Y-%m} {vintage_note}."] if vintage_note else [])]
    if source.is_synthetic:
        notes.append("The file says that its counts are invented: the data set is synthetic.")
    origin = _make_origin(file, source, options, vintage)
    live = live_dataset()
    unchanged = None
    if options.merge:
        if live is None:
            raise Invalid("There is no active data set to merge into.", code="nothing_to_merge_into")
        notes.append(f"Merged {len(populations)} ZIP codes into data set {live.pk}.")
        unchanged = UnchangedRoutes(live.pk, frozenset(populations))
        populations = stored_populations(live) | populations
        origin = _merged_origin(origin, live)
    totals = count_totals(populations)
    concerns = [INVENTED] if source.is_synthetic and not options.is_synthetic else []
    concerns += activation_warnings(
        populations=populations,
        totals=totals,
        route_types=options.route_types,
        rejects=log.rejects,
        rows=rows,
        max_reject=options.max_reject,
        live=live,
    )
    details = source.details if source.details and source.details.routes else None
    if details is not None:
        notes.append(f"{details.shape_count} routes have a place on the map.")
    return ParsedFile(origin, populations, totals, rows, log, notes, concerns, details, unchanged)


def _make_origin(file: OpenedFile, source: Source, options: ImportOptions, vintage: date) -> Origin:
    return Origin(
        vintage=vintage,
        source_format=source.format,
        file_name=file.name[:255],
        sha256=file.sha256,
        is_synthetic=options.is_synthetic or source.is_synthetic,
        is_merged=options.merge,
    )


def _merged_origin(origin: Origin, live: Dataset) -> Origin:
    """A merged data set has the vintage of its oldest part, and is synthetic if any part is."""
    return replace(
        origin,
        vintage=min(origin.vintage, live.vintage),
        is_synthetic=origin.is_synthetic or live.is_synthetic,
    )


def _find_vintage(options: ImportOptions, source: Source | None, name: str, path: Path) -> tuple[date, str]:
    if options.vintage:
        return read_vintage(options.vintage), ""
    if source and source.vintage:
        return source.vintage, "as the file says"
    if match := VINTAGE_IN_NAME.search(name):
        return date(int(match[1]), int(match[2]), 1), "from the file's name"
    modified = datetime.fromtimestamp(path.stat().st_mtime, tz=timezone.get_default_timezone())
    return month_of(modified.date()), "from the file's date, as none was given"


def _nothing_readable(rows: int, log: ProblemLog) -> str:
    if not rows:
        return "The file contains no routes."
    codes: Iterable[str] = (f"{code} {count} times" for code, count in log.counts.most_common(3))
    line, column, value, code = log.listed[0]
    return (
        f"None of the {rows} lines could be read ({', '.join(codes)}); "
        f"the first: line {line}, {column or 'line'} {value!r}, {code}."
    )


def _first_cells(path: Path, name: str) -> list[str]:
    """The columns of a table that were not recognised, to be mapped by the operator."""
    try:
        with open_file(path, name, is_preview=True) as file:
            line = file.stream.peek(4096).split(b"\n")[0].decode("utf-8-sig", "replace")
    except BadRouteFile:
        return []
    delimiter = likely_delimiter(line)
    return [cell.strip().strip('"') for cell in line.split(delimiter)][:60] if delimiter in line else []
