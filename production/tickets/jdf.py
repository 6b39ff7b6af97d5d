"""The job ticket as JDF 1.5, for hot folders of digital presses, which read no XJDF.

A combined node of interpreting, rendering and digital printing: file, copies, sides and paper. The same job always
gives the same bytes.
"""

from typing import Any
from urllib.parse import quote

from lxml import etree

from production.interface import AdapterJob
from production.tickets.values import (
    OTHER_MATERIAL,
    PAPER,
    RUSH_PRIORITY,
    WORK_STYLES,
    checked_number,
    local_time,
    media_of_product,
    paper_options,
    points,
    sheet_size,
    split_options,
    token,
    utc_time,
    work_style,
    xml_text,
)
from production.tickets.xjdf import AGENT, add, set_attributes

NAMESPACE = "http://www.CIP4.org/JDFSchema_1_1"
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
VERSION = "1.5"
# Names of XJDF that JDF writes otherwise.
COATINGS = {"Gloss": "Glossy", "None": "None", "Matte": "Matte", "Satin": "Satin", "Coated": "Coated"}

ONE_FORM = frozenset({"WorkAndTurn", "WorkAndTumble"})
# Flipped around a vertical axis, the heads of both sides meet.
SIDES = {
    "OneSided": "OneSidedFront",
    "TwoSidedHeadToHead": "TwoSidedFlipY",
    "TwoSidedHeadToFoot": "TwoSidedFlipX",
}


def write_jdf(job: AdapterJob) -> bytes:
    """The files are beside the ticket."""
    root = etree.Element(f"{{{NAMESPACE}}}JDF", nsmap={None: NAMESPACE, "xsi": INSTANCE})
    root.set(f"{{{INSTANCE}}}type", "Combined")
    set_attributes(
        root,
        DescriptiveName=job.item.product_name,
        ID="Job",
        JobID=checked_number(job.number),
        JobPartID="1",
        MaxVersion=VERSION,
        ProjectID=token(job.order_number),
        Status="Waiting",
        Type="Combined",
        Types="Interpreting Rendering DigitalPrinting",
        Version=VERSION,
    )
    audit = add(root, "AuditPool")
    add(audit, "Created", AgentName=AGENT, ID="Created", TimeStamp=utc_time(job.created))
    if job.note:
        add(root, "Comment", ID="Note", Name="Instruction").text = xml_text(job.note)
    if finishing := _describe_finishing(job):
        add(root, "Comment", ID="Finishing", Name="Instruction").text = xml_text(finishing)
    pool = add(root, "ResourcePool")
    _add_plan(pool, job)
    _add_files(pool, job)
    _add_paper(pool, job)
    _add_press(pool, job)
    _add_links(add(root, "ResourceLinkPool"), job)
    etree.indent(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8")) + b"\n"


def _describe_finishing(job: AdapterJob) -> str:
    """Tells people what to do with the printed sheets: a press would take processes for orders to do them itself."""
    item = job.item
    features = split_options(item.options)[1]
    product_values = {
        "Finish": item.finish,
        "Binding": ", ".join(filter(None, [item.binding, item.binding_edge])),
        "Folding": item.folding,
    }
    values = [
        *features.items(),
        *((name, value) for name, value in product_values.items() if name not in features),
        ("Item of order", job.place_of_order),
        ("Pack together with", ", ".join(number for number in job.siblings if number != job.number)),
    ]
    return "\n".join(f"{name}: {value}" for name, value in values if value)


def _add_plan(pool: Any, job: AdapterJob) -> None:
    add(
        pool,
        "NodeInfo",
        Class="Parameter",
        ID="Plan",
        JobPriority=RUSH_PRIORITY if job.is_rush else "",
        LastEnd=local_time(job.ship_by),
        Status="Available",
    )
    add(
        pool,
        "CustomerInfo",
        Class="Parameter",
        CustomerID=token(job.store_id),
        CustomerJobName=job.item.product_name,
        CustomerOrderID=job.external_id or job.order_number,
        ID="Customer",
        Status="Available",
    )


def _add_files(pool: Any, job: AdapterJob) -> None:
    print_files = job.print_files
    one_form = work_style(job) in ONE_FORM
    run_list = add(
        pool,
        "RunList",
        Class="Parameter",
        ID="Files",
        NPage=("2" if one_form else str(job.item.pages)) if len(print_files) == 1 else "",
        # The one page of a form is front and back of its sheet.
        Pages="0 0" if one_form else "",
        PartIDKeys="Run" if len(print_files) > 1 else "",
        Status="Available",
    )
    for position, file in enumerate(print_files, 1):
        part = add(run_list, "RunList", Run=_name_run(position)) if len(print_files) > 1 else run_list
        element = add(part, "LayoutElement")
        url = quote(file.name)
        add(element, "FileSpec", MimeType=file.media_type, URL=url, UserFileName=file.name)


def _add_paper(pool: Any, job: AdapterJob) -> None:
    item = job.item
    paper = {**media_of_product(item), **paper_options(item.options)}
    coating = COATINGS.get(paper.get("Coating", ""), "")
    add(
        pool,
        "Media",
        BackCoatings=coating,
        Class="Consumable",
        DescriptiveName=paper.get("MediaQuality"),
        Dimension=sheet_size(job),
        FrontCoatings=coating,
        ID="Paper",
        # JDF has fewer types than XJDF.
        MediaType=PAPER if paper["MediaType"] == PAPER else OTHER_MATERIAL,
        ProductID=paper.get("MediaQuality"),
        Status="Available",
        Thickness=paper.get("Thickness"),
        Weight=paper.get("Weight"),
    )


def _add_press(pool: Any, job: AdapterJob) -> None:
    item = job.item
    size = f"{points(item.width_mm)} {points(item.height_mm)}"
    params = add(
        pool,
        "DigitalPrintingParams",
        Class="Parameter",
        ID="Press",
        Sides=SIDES[item.sides],
        Status="Available",
    )
    add(params, "MediaRef", rRef="Paper")
    if style := work_style(job):
        add(
            pool,
            "ConventionalPrintingParams",
            Class="Parameter",
            ID="Turn",
            Status="Available",
            WorkStyle=WORK_STYLES[style],
        )
    add(
        pool,
        "Component",
        Class="Quantity",
        ComponentType="Sheet" if job.gang else "FinalProduct",
        Dimensions=f"{sheet_size(job) or size} 0",
        ID="Pieces",
        Status="Unavailable",
    )


def _add_links(links: Any, job: AdapterJob) -> None:
    for name, reference in (
        ("NodeInfo", "Plan"),
        ("CustomerInfo", "Customer"),
        ("RunList", "Files"),
        ("Media", "Paper"),
        ("DigitalPrintingParams", "Press"),
        *([("ConventionalPrintingParams", "Turn")] if work_style(job) else []),
    ):
        index = None if name in {"NodeInfo", "CustomerInfo"} else "0" if name == "RunList" else "2"
        add(links, f"{name}Link", CombinedProcessIndex=index, Usage="Input", rRef=reference)
    runs = [file.copies for file in job.print_files if file.copies]
    amount = "" if len(runs) > 1 else str(runs[0] if runs else job.item.quantity)
    link = add(links, "ComponentLink", Amount=amount, CombinedProcessIndex="2", Usage="Output", rRef="Pieces")
    if len(runs) > 1:
        amounts = add(link, "AmountPool")
        for position, copies in enumerate(runs, 1):
            part = add(amounts, "PartAmount", Amount=str(copies))
            add(part, "Part", Run=_name_run(position))


def _name_run(position: int) -> str:
    return f"Run-{position}"
