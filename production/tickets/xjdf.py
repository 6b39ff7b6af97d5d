"""The job ticket as XJDF 2.1. The same job always gives the same bytes.

The schema wants elements in a fixed order and attributes from lists; `check` holds a ticket against it.
Lengths are points. Deadlines have the offset of the store's time zone, so that their day reads right; other times are
UTC.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from lxml import etree

from production.interface import AdapterJob, JobFile, JobItem, Member
from production.tickets.values import (
    PROCESS_PLATES,
    RUSH_PRIORITY,
    WORK_STYLES,
    checked_number,
    local_time,
    media_of_product,
    points,
    sheet_size,
    split_options,
    token,
    utc_time,
    work_style,
    xml_text,
)

NAMESPACE = "http://www.CIP4.org/JDFSchema_2_0"
# Our own attributes; XJDF allows those of other namespaces.
OWN_NAMESPACE = "urn:store-fulfillment:ticket:1"
VERSION = "2.1"
AGENT = "Store Fulfillment"
PAPERS = "Papers"


def write_xjdf(job: AdapterJob) -> bytes:
    """The files are beside the ticket."""
    root = etree.Element(f"{{{NAMESPACE}}}XJDF", nsmap={None: NAMESPACE, "sf": OWN_NAMESPACE})
    set_attributes(
        root,
        DescriptiveName=job.item.product_name,
        JobID=checked_number(job.number),
        ProjectID=token(job.order_number),
        Types="Product",
        Version=VERSION,
    )
    audit = add(add(root, "AuditPool"), "AuditCreated")
    add(audit, "Header", AgentName=AGENT, DeviceID="store-fulfillment", Time=utc_time(job.created))
    if job.note:
        add(root, "Comment", Type="Instruction").text = xml_text(job.note)
    for usage, value in _general_ids(job):
        if value:
            add(root, "GeneralID", IDUsage=usage, IDValue=value)
    products = add(root, "ProductList")
    for position, member in enumerate(job.members or [Member(job, {}, {})], 1):
        _add_product(products, member, position)
    _add_contacts(root, job)
    _add_customer(root, job)
    _add_deliveries(root, job)
    add(
        _add_part(_resource_set(root, "NodeInfo")),
        "NodeInfo",
        JobPriority=RUSH_PRIORITY if job.is_rush else "",
        LastEnd=local_time(job.ship_by),
        Status="Waiting",
    )
    _add_files(root, job)
    _add_press_sheets(root, job)
    etree.indent(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8")) + b"\n"


def _general_ids(job: AdapterJob) -> list[tuple[str, str]]:
    days = str(job.production_days) if job.production_days else ""
    siblings = [("Sibling", number) for number in job.siblings if number != job.number]
    return [
        ("OrderID", job.order_id),
        ("ItemKey", job.item.key),
        ("Label", job.item.label),
        ("SKU", job.item.sku),
        ("ProductionDays", days),
        ("Rush", "true" if job.is_rush else ""),
        ("ItemOfOrder", job.place_of_order),
        *siblings,
    ]


def _add_product(product_list: Any, member: Member, position: int) -> None:
    item: JobItem = member.job.item
    product = add(
        product_list,
        "Product",
        Amount=str(item.quantity),
        DescriptiveName=item.product_name,
        ExternalID=token(item.product_id),
        ID=f"Product-{position}",
        IsRoot="true",
    )
    if member.places:
        add(product, "GeneralID", IDUsage="JobID", IDValue=member.job.number)
    for name, count in member.places.items():
        add(product, "GeneralID", IDUsage="PiecesPerSheet", IDValue=f"{count} on {name}")
    _add_intents(product, item)


def _add_intents(product: Any, item: JobItem) -> None:
    """Adds what is made, and of what, in the order of the schema."""
    media, features = split_options(item.options)
    media = {**media_of_product(item), **media}
    features = {**({"Finish": item.finish} if item.finish else {}), **features}
    for name, value in features.items():
        add(product, "GeneralID", DataType="NamedFeature", IDUsage=token(name), IDValue=value)
    if item.binding:
        add(
            add(product, "Intent", Name="BindingIntent"),
            "BindingIntent",
            BindingSide=item.binding_edge,
            BindingType=item.binding,
        )
    _add_colors(product, item)
    if item.folding:
        add(add(product, "Intent", Name="FoldingIntent"), "FoldingIntent", FoldCatalog=item.folding)
    size = f"{points(item.width_mm)} {points(item.height_mm)}"
    add(
        add(product, "Intent", Name="LayoutIntent"),
        "LayoutIntent",
        Bleed=points(item.bleed_mm),
        Dimensions=size,
        FinishedDimensions=f"{size} 0",
        Pages=str(item.pages),
        Sides=item.sides,
    )
    add(add(product, "Intent", Name="MediaIntent"), "MediaIntent", **media)


def _add_colors(product: Any, item: JobItem) -> None:
    plates = [*PROCESS_PLATES, *filter(None, map(token, item.spot_plates))]
    front = {"ColorsUsed": " ".join(plates), "Surface": "Front"}
    color = add(add(product, "Intent", Name="ColorIntent"), "ColorIntent")
    add(color, "SurfaceColor", **front)
    if item.is_two_sided:
        add(color, "SurfaceColor", **{**front, "Surface": "Back"})


def _list_drops(job: AdapterJob) -> Iterator[tuple[int, AdapterJob]]:
    """The jobs with a parcel of their own, counted from 1."""
    return enumerate([member.job for member in job.members] or [job], 1)


def _add_contacts(root: Any, job: AdapterJob) -> None:
    """Adds one set with a part for each recipient: readers find a set by its name, and take the first one."""
    contacts = _resource_set(root, "Contact")
    for position, drop in _list_drops(job):
        _add_contact(_add_part(contacts, ContactType="Delivery", DropID=f"Drop-{position}"), drop)


def _add_contact(resource: Any, job: AdapterJob) -> None:
    to = job.recipient.get
    contact = add(resource, "Contact")
    country = to("CountryCode", "").upper()
    add(
        contact,
        "Address",
        City=to("City"),
        CountryCode=country if re.fullmatch("[A-Z]{2}", country) else "",
        ExtendedAddress=to("Address2"),
        PostalCode=to("PostalCode"),
        Region=to("State"),
        Street=to("Address1"),
    )
    if to("Email"):
        add(contact, "ComChannel", ChannelType="Email", Locator=f"mailto:{to('Email')}")
    if to("Phone"):
        add(
            contact,
            "ComChannel",
            ChannelType="Phone",
            Locator=f"tel:{re.sub(r'[^0-9+]', '', to('Phone', ''))}",
        )
    if to("Company"):
        add(contact, "Company", OrganizationName=to("Company"))
    if name := to("Name"):
        first, _, family = name.strip().rpartition(" ")
        add(contact, "Person", DescriptiveName=name, FamilyName=family, FirstName=first)


def _add_customer(root: Any, job: AdapterJob) -> None:
    add(
        _add_part(_resource_set(root, "CustomerInfo")),
        "CustomerInfo",
        CustomerID=token(job.store_id),
        CustomerJobName=job.item.product_name,
        CustomerOrderID=job.external_id or job.order_number,
    )


def _add_deliveries(root: Any, job: AdapterJob) -> None:
    deliveries = _resource_set(root, "DeliveryParams")
    for position, drop in _list_drops(job):
        delivery = add(
            _add_part(deliveries, DropID=f"Drop-{position}"),
            "DeliveryParams",
            Method=token(drop.delivery_method),
            Required=local_time(drop.deliver_by),
            Transfer="PrinterToBuyerDeliver",
        )
        add(delivery, "DropItem", Amount=str(drop.item.quantity), ItemRef=f"Product-{position}")


def _add_files(root: Any, job: AdapterJob) -> None:
    resources = _resource_set(root, "RunList")
    print_files = job.print_files
    pdfs = [file for file in print_files if file.media_type == "application/pdf"]
    for position, file in enumerate(print_files, 1):
        resource = add(resources, "Resource", DescriptiveName=file.name)
        if len(print_files) > 1:
            add(resource, "Part", Run=f"Run-{position}")
        pages = str(job.item.pages) if pdfs == [file] else ""
        last = job.item.pages - 1
        _add_file(add(resource, "RunList", NPage=pages, Pages=f"0 {last}" if pages else ""), file)
    for file in job.files:
        if not file.is_printed:
            # A set of its own: what is in the first one is printed.
            papers = _resource_set(root, "RunList", ProcessUsage=PAPERS)
            resource = add(papers, "Resource", DescriptiveName="Papers for the post office")
            _add_file(add(resource, "RunList"), file)


def _add_press_sheets(root: Any, job: AdapterJob) -> None:
    """How the press turns the sheets of a gang sheet, their paper, and how many it prints: good ones and waste."""
    if style := work_style(job):
        add(_add_part(_resource_set(root, "Layout")), "Layout", WorkStyle=WORK_STYLES[style])
    if job.gang:
        kind = media_of_product(job.item)["MediaType"]
        add(_add_part(_resource_set(root, "Media")), "Media", Dimension=sheet_size(job), MediaType=kind)
    print_files = job.print_files
    if not any(file.copies for file in print_files):
        return
    resources = add(root, "ResourceSet", Name="Component", Usage="Output")
    for position, file in enumerate(print_files, 1):
        resource = add(resources, "Resource", DescriptiveName=file.name)
        add(
            add(resource, "AmountPool"),
            "PartAmount",
            Amount=str(file.copies - file.overs),
            Waste=str(file.overs) if file.overs else "",
        )
        if len(print_files) > 1:
            add(resource, "Part", Run=f"Run-{position}")
        add(resource, "Component")


def _add_file(run: Any, file: JobFile) -> None:
    spec = add(
        run,
        "FileSpec",
        # XJDF requires MD5 here; the SHA-256 beside it protects the content.
        CheckSum=hashlib.md5(file.content, usedforsecurity=False).hexdigest(),
        FileSize=str(len(file.content)),
        MimeType=file.media_type,
        URL=quote(file.name),
        UserFileName=file.name,
    )
    spec.set(f"{{{OWN_NAMESPACE}}}SHA256", file.sha256)
    if file.copies:
        spec.set(f"{{{OWN_NAMESPACE}}}Run", str(file.copies))


def _resource_set(root: Any, name: str, **attributes: str) -> Any:
    return add(root, "ResourceSet", Name=name, **attributes, Usage="Input")


def _add_part(resources: Any, **part: str) -> Any:
    resource = add(resources, "Resource")
    if part:
        add(resource, "Part", **part)
    return resource


def add(parent: Any, tag: str, **attributes: str | None) -> Any:
    """A new element in the namespace of its parent."""
    namespace = etree.QName(parent).namespace
    return set_attributes(etree.SubElement(parent, f"{{{namespace}}}{tag}"), **attributes)


def set_attributes(element: Any, **attributes: str | None) -> Any:
    """Sets attributes without empty values, which the schema forbids."""
    for name, value in attributes.items():
        if value:
            element.set(name, xml_text(value))
    return element
