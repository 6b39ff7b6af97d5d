"""The job ticket as JSON, for print houses that read no XJDF. Members are only ever added within a version."""

import json
from datetime import UTC, datetime
from typing import Any

from production.interface import AdapterJob, JobFile
from production.tickets.values import PROCESS_PLATES, checked_number, work_style

FORMAT = "store-fulfillment-ticket"
VERSION = 1


def write_json_ticket(job: AdapterJob) -> bytes:
    """The same job always gives the same bytes."""
    ticket = {"Format": FORMAT, "Version": VERSION, **_members_of_ticket(job)}
    if job.gang:
        ticket["Sheets"] = sum(file.copies for file in job.print_files)
        ticket["WastePercent"] = round(100 * job.gang.waste, 1)
        ticket["Jobs"] = [
            _members_of_ticket(member.job)
            | {
                "Places": [
                    {"File": file, "PiecesPerSheet": count, "Run": member.runs[file]}
                    for file, count in member.places.items()
                ],
                "Pieces": member.pieces,
            }
            for member in job.gang.members
        ]
    return json.dumps(ticket, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"


def _members_of_ticket(job: AdapterJob) -> dict[str, Any]:
    return {
        "JobNumber": checked_number(job.number),
        "Created": _format_time(job.created),
        "Due": _format_time(job.ship_by),
        "ShipBy": _format_day(job.ship_by),
        "DeliverBy": _format_day(job.deliver_by),
        "ProductionDays": job.production_days,
        "Rush": job.is_rush,
        "Items": len(job.siblings) or 1,
        "ItemNumber": job.siblings.index(job.number) + 1 if job.number in job.siblings else 1,
        "Siblings": [number for number in job.siblings if number != job.number],
        "Order": _describe_order(job),
        **_describe_product(job),
        "Files": [_describe_file(file) for file in job.files],
        "Recipient": dict(job.recipient),
        "DeliveryMethod": job.delivery_method,
        "Note": job.note,
    }


def _describe_order(job: AdapterJob) -> dict[str, Any]:
    return {
        "OrderID": job.order_id,
        "OrderNumber": job.order_number,
        "ExternalID": job.external_id,
        "StoreID": job.store_id,
        "ItemKey": job.item.key,
        **({"Label": job.item.label} if job.item.label else {}),
    }


def _describe_product(job: AdapterJob) -> dict[str, Any]:
    item, gang, style = job.item, job.gang, work_style(job)
    return {
        "Product": {"ProductID": item.product_id, "Name": item.product_name, "SKU": item.sku},
        "Quantity": item.quantity,
        "Pages": item.pages,
        "TwoSided": item.is_two_sided,
        "Sides": item.sides,
        **({"WorkStyle": style} if style else {}),
        "Size": {"WidthMM": item.width_mm, "HeightMM": item.height_mm, "BleedMM": item.bleed_mm},
        **({"SheetSize": {"WidthMM": gang.sheet_mm[0], "HeightMM": gang.sheet_mm[1]}} if gang else {}),
        "Options": dict(sorted(item.options.items())),
        "Stock": {
            "Code": item.stock_code,
            "WeightGSM": item.stock_weight_gsm or None,
            "Coating": item.coating,
        },
        "Finish": item.finish,
        "Binding": item.binding,
        "BindingEdge": item.binding_edge,
        "Folding": item.folding,
        "Plates": [*PROCESS_PLATES, *item.spot_plates],
    }


def _describe_file(file: JobFile) -> dict[str, Any]:
    return {
        "Name": file.name,
        "MediaType": file.media_type,
        "Bytes": len(file.content),
        "SHA256": file.sha256,
        "URL": file.url,
        "Kind": "Print" if file.is_printed else "Papers",
        **({"Run": file.copies, "Overs": file.overs} if file.copies else {}),
    }


def _format_day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


def _format_time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None
