"""Builds jobs for adapters, with their files."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core import signing
from django.urls import reverse

from accounts.callers import Caller
from printing.imposition import Stamp, piece_of, spot_plates, stamp_file
from production.interface import AdapterJob, JobFile, JobItem
from production.jobs.models import Job
from production.jobs.selectors import page_count, siblings_of
from stores.catalog.models import Product
from stores.orders.business_days import ship_day
from stores.orders.models import RECIPIENT_FIELDS, Order, OrderItem
from stores.orders.selectors.items import PRESET, item_options, ordered_product, preset_version
from stores.orders.services.eddm_papers import render_eddm_papers
from stores.orders.services.print_files import read_print_file

LAST_SECOND = time(23, 59, 59)
FILE_SALT = "production.files"
FILE_VALID = timedelta(days=30)
# Stands for the digest of a print file, which is hexadecimal.
PAPERS = "papers"
PDF = "application/pdf"
EMPTY = hashlib.sha256(b"").hexdigest()
# Panels by the number in CIP4's fold catalog: a sheet folded in half, a Z fold and a letter fold.
PANELS = {"F4-1": 2, "F6-1": 3, "F6-4": 3}


def build_adapter_job(job: Job, *, is_stamped: bool = True, has_content: bool = True) -> AdapterJob:
    """The job for an adapter, its print file stamped for sheets of its own.

    Raises DomainError if the print file is missing or damaged. Without `has_content` its files are empty: to withdraw
    them takes their names alone, and an erasure may have deleted them.
    """
    item = OrderItem.objects.select_related("product", "order__store").get(pk=job.item_id)
    numbers = list(siblings_of(job).values_list("number", flat=True))
    built_job = build_item_job(
        job.order,
        item,
        number=job.number,
        created=job.created,
        siblings=numbers,
        pieces=job.pieces,
        has_content=has_content,
    )
    if not (is_stamped and has_content):
        return built_job
    files = [_stamp_file(file, item, job) if file.is_printed else file for file in built_job.files]
    return replace(built_job, files=files)


def _stamp_file(file: JobFile, item: OrderItem, job: Job) -> JobFile:
    content = stamped_content(item, job.number, file.content, pieces=job.pieces)
    return replace(file, content=content, sha256=hashlib.sha256(content).hexdigest())


def stamped_content(item: OrderItem, number: str, content: bytes, *, pieces: int | None = None) -> bytes:
    """The print file as it is sent for a number of the item's job."""
    ship_by = ship_day(item.order, is_mailing=item.eddm is not None)
    product = ordered_product(item)
    panels = PANELS.get(product.folding, 1) if page_count(item.product) <= 2 else 1
    stamp = Stamp(number, pieces or item.quantity, ship_by, item.label, product.is_head_to_foot, panels)
    return stamp_file(content, stamp)


def build_item_job(
    order: Order,
    item: OrderItem,
    *,
    number: str,
    created: datetime,
    siblings: Sequence[str],
    pieces: int | None = None,
    has_content: bool = True,
) -> AdapterJob:
    """`pieces` are those of a reprint of fewer than ordered."""
    print_files = _list_files(item, number, pieces, has_content)
    usual_days = item.product.production_speeds.filter(is_default=True).values_list("days", flat=True).first()
    return AdapterJob(
        number=number,
        order_id=str(order.pk),
        order_number=str(order.number),
        external_id=order.external_id or "",
        store_id=order.store.external_id,
        created=created,
        ship_by=_end_of_day(ship_day(order, is_mailing=item.eddm is not None), order),
        deliver_by=_end_of_day(order.latest_delivery, order),
        production_days=order.production_days,
        is_rush=usual_days is not None and order.production_days < usual_days,
        siblings=siblings,
        item=_build_item(item, print_files, pieces or item.quantity),
        recipient={name: str(order.recipient.get(name) or "") for name in RECIPIENT_FIELDS},
        delivery_method=order.delivery_method_code,
        # Missing pieces go with the papers of the others.
        files=[*print_files, *([] if pieces else _list_papers(item, number, has_content))],
        note=f"Reprint: {pieces:,} of {item.quantity:,} pieces were missing." if pieces else "",
    )


def _end_of_day(day: date, order: Order) -> datetime:
    return datetime.combine(day, LAST_SECOND, ZoneInfo(order.store.time_zone))


def _build_item(item: OrderItem, files: Sequence[JobFile], quantity: int) -> JobItem:
    product = ordered_product(item)
    piece = piece_of(files[0].content) if files else None
    pages = piece.pages if piece else page_count(item.product)
    size = float(product.width_mm), float(product.height_mm)
    if piece and not piece.has_size(size):
        # The product changed since the order.
        size = piece.size_mm
    return JobItem(
        key=item.item_key,
        label=item.label,
        product_id=item.product_external_id,
        product_name=item.product_name,
        sku=product.api_key,
        quantity=quantity,
        pages=pages,
        width_mm=size[0],
        height_mm=size[1],
        bleed_mm=piece.bleed_mm if piece else 0.0,
        is_two_sided=pages > 1 and not product.is_one_sided,
        options=item_options(item),
        drawn_options=_drawn_options(item.product),
        preset=preset_version(item),
        stock_code=product.stock_code,
        stock_weight_gsm=product.stock_weight_gsm or 0,
        coating=product.coating,
        finish=product.finish,
        binding=product.binding,
        binding_edge=product.binding_edge,
        is_head_to_foot=product.is_head_to_foot,
        folding=product.folding,
        spot_plates=spot_plates(files[0].content) if files else (),
    )


def _drawn_options(product: Product) -> set[str]:
    """Fields that a box shows, and the print preset."""
    pages = (product.template or {}).get("Pages") or []
    return {PRESET, *(box["Field"] for page in pages for box in page.get("Boxes") or [] if box.get("Field"))}


def _list_files(item: OrderItem, number: str, pieces: int | None, has_content: bool) -> list[JobFile]:
    if not item.print_sha256:
        return []
    content, digest = (read_print_file(item=item), item.print_sha256) if has_content else (b"", EMPTY)
    url = print_file_url(item, number, pieces)
    return [JobFile(f"{number}.pdf", PDF, digest, content, url)]


def _list_papers(item: OrderItem, number: str, has_content: bool) -> list[JobFile]:
    """The papers of an EDDM mailing for the post office: drop lists, bundles, facing slips, forms."""
    if item.eddm is None:
        return []
    content = render_eddm_papers(item=item, caller=Caller()) if has_content else b""
    name, digest = f"{number}-eddm-papers.pdf", hashlib.sha256(content).hexdigest()
    return [JobFile(name, PDF, digest, content, _signed_url([item.pk, PAPERS], name), is_printed=False)]


def print_file_url(item: OrderItem, number: str, pieces: int | None = None) -> str:
    """The address for providers that fetch the file; valid for FILE_VALID."""
    reprint_pieces = [] if pieces is None else [pieces]
    return _signed_url([item.pk, item.print_sha256[:16], *reprint_pieces], f"{number}.pdf")


def _signed_url(payload: list[Any], name: str) -> str:
    token = signing.dumps(payload, salt=FILE_SALT)
    return settings.PUBLIC_URL + reverse("production_file", args=[token, name])
