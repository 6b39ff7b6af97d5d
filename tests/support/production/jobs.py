"""Jobs and print files for the tests of production."""

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pikepdf
from django.test.utils import CaptureQueriesContext

from production.interface import AdapterJob, GangSheetDetails, JobFile, JobItem, Member

MM = 72 / 25.4
# Columns that may have megabytes.
COLUMNS = (
    r'"stores_(product"\."(template|description|rendering|verbose_rendering)'
    r'|orderitem"\."(template_data|artwork|preflight|eddm)'
    r'|order"\."(rendering|metadata)|store"\."(rendering|verbose_rendering))"'
)
LARGE = re.compile(COLUMNS)
# A read of one that was deferred: of this column alone.
DEFERRED = re.compile(rf'SELECT "\w+"\."id", {COLUMNS} FROM ')


def large_reads(statements: CaptureQueriesContext) -> list[str]:
    """Of the statements that read several jobs, sheets or items: those with a large column. And each later read of a
    column that was deferred, which is one for each job.
    """
    texts = [query["sql"] for query in statements.captured_queries]
    lists = [
        text
        for text in texts
        if re.search('FROM "(production_job|production_gangsheet|stores_orderitem)"', text)
        and not re.search(r" LIMIT (1|21)\b", text)
    ]
    deferred = [text for text in texts if DEFERRED.match(text)]
    return [*deferred, *(text for text in lists if LARGE.search(text.split(" FROM ")[0]))]


def made_pdf(
    width_mm: float = 88.9,
    height_mm: float = 50.8,
    bleed_mm: float = 3.175,
    pages: int = 2,
    *,
    spots: Sequence[str] = (),
    room_mm: float = 0.0,
) -> bytes:
    """A print file: one solid field to the bleed, TrimBox and BleedBox, no marks; spot colors on it, room around it."""
    pdf = pikepdf.new()
    width, height = (width_mm + 2 * bleed_mm) * MM, (height_mm + 2 * bleed_mm) * MM
    for number in range(pages):
        page = pdf.add_blank_page(page_size=(width, height))
        edge = room_mm * MM
        page.obj.MediaBox = [-edge, -edge, width + edge, height + edge]
        page.obj.Resources = pikepdf.Dictionary(ColorSpace=pikepdf.Dictionary(spot_spaces(spots)))
        painted = "".join(f"/S{at} cs 1 scn {at * 20 + 20} 20 9 9 re f " for at, _ in enumerate(spots))
        page.obj.TrimBox = [bleed_mm * MM, bleed_mm * MM, width - bleed_mm * MM, height - bleed_mm * MM]
        page.obj.BleedBox = [0, 0, width, height]
        page.obj.Contents = pdf.make_stream(
            f"q 0 {number / 10:.1f} 0 0 k 0 0 {width} {height} re f {painted} Q".encode()
        )
    content = io.BytesIO()
    pdf.save(content, deterministic_id=True)
    return content.getvalue()


def spot_spaces(names: Sequence[str]) -> dict[str, pikepdf.Object]:
    tint = pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0] * 4, C1=[0, 0.3, 0.7, 0.1], N=1)
    return {
        f"/S{at}": pikepdf.Array(
            [
                pikepdf.Name.Separation,
                pikepdf.Name(f"/{name}"),
                pikepdf.Name.DeviceCMYK,
                tint,
            ]
        )
        for at, name in enumerate(names)
    }


def job_file(
    name: str = "SF-1001-1.pdf", content: bytes = b"%PDF-1.7 art", url: str = "", *, is_printed: bool = True
) -> JobFile:
    return JobFile(name, "application/pdf", hashlib.sha256(content).hexdigest(), content, url, is_printed)


def made_job(number: str = "SF-1001-1", **changes: Any) -> AdapterJob:
    item = JobItem(
        key="business-card",
        product_id="8f5c1f0e-5a37-4b52-9f3a-0a4f6a1b2c3d",
        product_name="Business card, 16 pt silk",
        sku="BC-16-SILK",
        quantity=500,
        pages=2,
        width_mm=88.9,
        height_mm=50.8,
        bleed_mm=3.175,
        is_two_sided=True,
        options={"Weight": "350", "Coating": "Satin", "Rounded corners": "Yes"},
    )
    item = replace(item, **{name: changes.pop(name) for name in list(changes) if hasattr(item, name)})
    job = AdapterJob(
        number=number,
        order_id="0b9f3a0a-1111-4222-8333-123456789abc",
        order_number="1001",
        external_id="PO 77/3",
        store_id="5f0c1f0e-5a37-4b52-9f3a-0a4f6a1b2c3d",
        created=datetime(2026, 5, 4, 9, 30, tzinfo=UTC),
        ship_by=datetime(2026, 5, 8, 17, 0, tzinfo=UTC),
        deliver_by=datetime(2026, 5, 15, 17, 0, tzinfo=UTC),
        item=item,
        recipient={
            "Name": "Ana María O’Neill",
            "Company": "O’Neill & Sons",
            "Address1": "100 Main St",
            "Address2": "Suite 4",
            "City": "Salt Lake City",
            "State": "UT",
            "PostalCode": "84101",
            "CountryCode": "us",
            "Phone": "+1 (801) 555-0100",
            "Email": "ana@example.com",
        },
        delivery_method="Ground 3–5 days",
        files=[job_file(f"{number}.pdf")],
        note="Call before delivery",
    )
    return replace(job, **changes)


def made_gang_job() -> AdapterJob:
    """Two jobs on two layouts, for two recipients."""
    first, second = "G12-sheet-01-run-25.pdf", "G12-sheet-02-run-13.pdf"
    recipient = {"Name": "Cher", "City": "Provo", "CountryCode": "US"}
    sheets = [
        replace(job_file(first), copies=25, overs=5),
        replace(job_file(second, b"%PDF-1.7 two"), copies=13),
    ]
    members = [
        Member(made_job("1001-1", quantity=100, files=[]), {first: 5}, {first: 20}),
        Member(
            made_job("1002-1", quantity=250, files=[], recipient=recipient),
            {first: 10, second: 4},
            {first: 20, second: 13},
        ),
    ]
    return made_job(
        "G12",
        quantity=350,
        key="",
        sku="",
        order_id="",
        order_number="",
        external_id="",
        recipient={},
        delivery_method="",
        files=sheets,
        gang=GangSheetDetails(members, (450.0, 320.0), "WorkAndTurn", 0.25),
        note="Gang sheet of 2 jobs; report each job by its own number.",
    )
