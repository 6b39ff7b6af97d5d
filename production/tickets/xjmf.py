"""Reports as XJMF messages, or as a returned XJDF ticket with audits.

What is read: the phase of a job (`JobPhase`, `QueueEntry`, `ProcessRun`), what happened to it
(`Notification`), and the parcel it left in (`ResourceInfo` with `DeliveryParams`). The rest is passed over.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from lxml import etree

from production.interface import Report
from production.tickets.reports import (
    MAX_BODY_BYTES,
    check_count,
    decode_body,
    read_time,
    report_from_values,
    report_identifier,
)
from production.tickets.xjdf import NAMESPACE

ROOTS = ("XJMF", "XJDF")
# `Stopped` and `Suspended` may continue; only `Aborted` is final.
STATE_OF_STATUS = {
    "Waiting": "Acknowledged",
    "Setup": "InProduction",
    "InProgress": "InProduction",
    "Cleanup": "InProduction",
    "Stopped": "InProduction",
    "Suspended": "InProduction",
    "Completed": "InProduction",  # printed; it is shipped when a parcel or a milestone says so
    "Aborted": "Failed",
}
CANCELLED_DETAILS = frozenset({"Cancelled", "Canceled", "Removed"})
SHIPPED_DETAILS = frozenset({"Shipped", "Delivered"})
Headers = dict[Any, Mapping[str, str] | None]
# Characters of all reports together: one may lie in another.
MAX_WRITTEN = 10 * MAX_BODY_BYTES
SEVERITIES = frozenset({"Event", "Information", "Warning", "Error", "Fatal"})


def read_xjmf(body: bytes) -> Sequence[Report]:
    """Raises ValueError with line and attribute; a message without a word on a job gives no report."""
    root = parse_xml(body)
    name = etree.QName(root)
    if name.namespace != NAMESPACE or name.localname not in ROOTS:
        raise ValueError(
            f"Line {root.sourceline}: the root is {name.localname}; it must be XJMF or XJDF of {NAMESPACE}."
        )
    reports: list[Report] = []
    headers: Headers = {}
    written_length = 0
    for element in root.iter():
        reader = READERS.get(etree.QName(element).localname)
        if reader and (values := reader(element)) is not None:
            check_count(len(reports) + 1)
            raw = _element_text(element)
            written_length += len(raw)
            if written_length > MAX_WRITTEN:
                raise ValueError(f"{_name_place(element)}: too many reports lie in each other.")
            reports.append(_build_report(element, values, _find_header(element, headers), raw))
    return reports


def _read_phase(element: Any) -> Mapping[str, str] | None:
    job = element.get("JobID") or (_root_job(element) if _has_local_name(element, "ProcessRun") else "")
    attribute = "EndStatus" if _has_local_name(element, "ProcessRun") else "Status"
    status, details = element.get(attribute, ""), element.get("StatusDetails", "")
    if not job:
        return None
    if status not in STATE_OF_STATUS:
        raise ValueError(
            f"{_name_place(element)}: {attribute} is “{status[:60]}”; it must be one of {', '.join(STATE_OF_STATUS)}."
        )
    state = STATE_OF_STATUS[status]
    if details in CANCELLED_DETAILS and status == "Aborted":
        state = "Cancelled"
    if details in SHIPPED_DETAILS and status == "Completed":
        state = "Shipped"
    at = next((element.get(name) for name in ("EndTime", "End") if element.get(name)), "")
    return {"JobNumber": job, "State": state, "At": at, "Message": " ".join(filter(None, [status, details]))}


def _read_notification(element: Any) -> Mapping[str, str] | None:
    job, severity = element.get("JobID") or _root_job(element), element.get("Class", "")
    if severity not in SEVERITIES:
        raise ValueError(
            f"{_name_place(element)}: Class is “{severity[:60]}”; it must be one of {', '.join(sorted(SEVERITIES))}."
        )
    milestone = next((child.get("MilestoneType", "") for child in _find_children(element, "Milestone")), "")
    comments = " ".join("".join(child.itertext()).strip() for child in _find_children(element, "Comment"))
    if not job or (not milestone and severity in {"Event", "Information"}):
        return None
    if severity == "Fatal":
        state = "Failed"
    elif milestone.startswith("Shipping"):
        state = "Shipped"
    else:
        # A warning implies only that the job was acknowledged.
        state = "InProduction" if milestone else "Acknowledged"
    message = " ".join(filter(None, [milestone or severity, comments]))
    return {"JobNumber": job, "State": state, "Message": message}


def _read_parcel(element: Any) -> Mapping[str, str] | None:
    job = element.get("JobID") or _root_job(element)
    parcels = list(element.iter(f"{{{NAMESPACE}}}DeliveryParams"))
    tracking = next((parcel.get("TrackingID") for parcel in parcels if parcel.get("TrackingID")), "")
    if not job or not tracking:
        return None
    method = next((parcel.get("Method") for parcel in parcels if parcel.get("Method")), "")
    return {"JobNumber": job, "State": "Shipped", "Carrier": method, "TrackingNumber": tracking}


READERS: Mapping[str, Callable[[Any], Mapping[str, str] | None]] = {
    "JobPhase": _read_phase,
    "QueueEntry": _read_phase,
    "ProcessRun": _read_phase,
    "Notification": _read_notification,
    "ResourceInfo": _read_parcel,
}


def _element_text(element: Any) -> str:
    """Writes a copy of the element: in its place, all namespaces around it would be written, which takes minutes."""
    return str(etree.tostring(deepcopy(element), encoding="unicode", with_tail=False))


def _build_report(element: Any, values: Mapping[str, str], header: Mapping[str, str], raw: str) -> Report:
    where = _name_place(element)
    at = values.get("At") or header.get("Time", "")
    if at:
        read_time(at, where=where, field="Time")
    report = report_from_values({**values, "At": at}, where=where, raw=raw)
    # IDs of messages are unique within their sender only, and one message may report several jobs.
    message_id = "/".join(filter(None, [header.get("DeviceID"), header.get("ID"), header.get("Time")]))
    identifier = report_identifier(
        f"{message_id}/{report.state}/{at}", report.job_number, report.state, report.at, {}
    )
    return replace(report, identifier=identifier) if header.get("ID") else report


def _find_header(element: Any, header_by_parent: Headers) -> Mapping[str, str]:
    """The header of the message around the element, else that of the document.

    `header_by_parent` remembers it of each parent: looking through all of its children for each of them takes minutes.
    """
    for parent in element.iterancestors():
        if parent not in header_by_parent:
            child = next(_find_children(parent, "Header"), None)
            header_by_parent[parent] = None if child is None else dict(child.attrib)
        if (header := header_by_parent[parent]) is not None:
            return header
    return {}


def _root_job(element: Any) -> str:
    root = element.getroottree().getroot()
    return root.get("JobID", "") if _has_local_name(root, "XJDF") else ""


def _find_children(element: Any, name: str) -> Iterator[Any]:
    return element.iterchildren(f"{{{NAMESPACE}}}{name}")


def _has_local_name(element: Any, name: str) -> bool:
    return bool(etree.QName(element).localname == name)


def _name_place(element: Any) -> str:
    return f"Line {element.sourceline}, {etree.QName(element).localname}"


def parse_xml(body: bytes) -> Any:
    """The root element; raises ValueError."""
    text = decode_body(body)
    for forbidden in ("<!DOCTYPE", "<!ENTITY"):
        if forbidden in text:
            line = text[: text.index(forbidden)].count("\n") + 1
            raise ValueError(f"Line {line}: {forbidden} is not allowed in a report.")
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise ValueError(f"Line {line}, column {column}: this is not XML: {error.msg}.") from error
