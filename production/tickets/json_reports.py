"""Reports as JSON: one object, a list of them, or `{"Version": 1, "Reports": [...]}`."""

import json
from collections.abc import Sequence
from typing import Any

from production.interface import Report
from production.tickets.reports import FIELDS, check_count, read_json, report_from_values

VERSION = 1


def read_json_reports(body: bytes) -> Sequence[Report]:
    reports = _list(read_json(body, constant=_refuse))
    check_count(len(reports))
    return [_report(report, f"Report {position}") for position, report in enumerate(reports, 1)]


def _list(content: Any) -> list[Any]:
    if isinstance(content, dict) and "Reports" in content:
        version = content.get("Version", VERSION)
        if version != VERSION or isinstance(version, bool):
            raise ValueError(f"Version is {json.dumps(version)[:60]}; it must be {VERSION}.")
        if unknown := sorted(set(content) - {"Version", "Reports"}):
            raise ValueError(f"{unknown[0][:60]} is not an allowed member. Allowed: Version, Reports.")
        content = content["Reports"]
    elif isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise ValueError('Write a report, a list of reports, or {"Version": 1, "Reports": [...]}.')
    return content


def _report(report: Any, where: str) -> Report:
    if not isinstance(report, dict):
        raise ValueError(f"{where}: it must be an object with the members {', '.join(FIELDS)}.")
    for name, value in report.items():
        if name not in FIELDS:
            raise ValueError(f"{where}: there is no member {name[:60]}. Members are {', '.join(FIELDS)}.")
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{where}: {name} must be text.")
    values = {name: value or "" for name, value in report.items()}
    return report_from_values(values, where=where, raw=json.dumps(report, ensure_ascii=False, sort_keys=True))


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON.")
