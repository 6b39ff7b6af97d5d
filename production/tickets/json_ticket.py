"""The job ticket as JSON, for print houses that read no XJDF. Members are only ever added within a version."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from production.adapters.interface import Job
from production.tickets.xjdf import checked_number

FORMAT = "store-fulfillment-ticket"
VERSION = 1


def write_json_ticket(job: Job, names: Mapping[str, str] | None = None) -> bytes:
    """The ticket; equal jobs give equal bytes. `names` are the file names beside the ticket."""
    item, names = job.item, names or {}
    ticket = {
        "Format": FORMAT,
        "Version": VERSION,
        "JobNumber": checked_number(job.number),
        "Created": _time(job.created),
        "Due": _time(job.due),
        "Order": {
            "OrderID": job.order_id,
            "OrderNumber": job.order_number,
            "ExternalID": job.external_id,
            "StoreID": job.store_id,
            "ItemKey": item.key,
        },
        "Product": {"ProductID": item.product_id, "Name": item.product_name, "SKU": item.sku},
        "Quantity": item.quantity,
        "Pages": item.pages,
        "TwoSided": item.two_sided,
        "Size": {"WidthMM": item.width_mm, "HeightMM": item.height_mm, "BleedMM": item.bleed_mm},
        "Options": dict(sorted(item.options.items())),
        "Files": [
            {
                "Name": names.get(file.name, file.name),
                "MediaType": file.media_type,
                "Bytes": len(file.content),
                "SHA256": file.sha256,
                "URL": file.url,
            }
            for file in job.files
        ],
        "Recipient": dict(job.recipient),
        "DeliveryMethod": job.delivery_method,
        "Note": job.note,
    }
    return json.dumps(ticket, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None
