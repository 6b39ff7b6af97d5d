"""Builds jobs for adapters."""

import hashlib
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.urls import reverse

from accounts.callers import Caller
from production import interface
from production.jobs.models import Job
from stores.orders.models import RECIPIENT_FIELDS, Order, OrderItem
from stores.orders.selectors.orders import item_options
from stores.orders.services.eddm_papers import render_eddm_papers
from stores.orders.services.print_files import read_print_file

FILE_SALT = "production.files"
FILE_VALID = timedelta(days=30)
# Stands for the digest of a print file, which is hexadecimal.
PAPERS = "papers"
PDF = "application/pdf"


def adapter_job(job: Job) -> interface.Job:
    """The job for an adapter; raises DomainError if the print file is missing or damaged."""
    item = OrderItem.objects.select_related("product").get(pk=job.item_id)
    return build_job(job.order, item, number=job.number, created=job.created)


def build_job(order: Order, item: OrderItem, *, number: str, created: datetime) -> interface.Job:
    return interface.Job(
        number=number,
        order_id=str(order.pk),
        order_number=str(order.number),
        external_id=order.external_id or "",
        store_id=order.store.external_id,
        created=created,
        due=datetime.combine(order.latest_delivery, time(), UTC),
        item=_item(item),
        recipient={name: str(order.recipient.get(name) or "") for name in RECIPIENT_FIELDS},
        delivery_method=order.delivery_method_code,
        files=[*_files(item, number), *_papers(item, number)],
    )


def _item(item: OrderItem) -> interface.JobItem:
    product = item.product
    pages = (product.template or {}).get("Pages") or []
    return interface.JobItem(
        key=item.item_key,
        product_id=item.product_external_id,
        product_name=item.product_name,
        sku=product.api_key,
        quantity=item.quantity,
        pages=len(pages) or product.page_count,
        width_mm=float(product.width_mm),
        height_mm=float(product.height_mm),
        bleed_mm=float(pages[0].get("BleedMM") or 0) if pages else 0.0,
        two_sided=(len(pages) or product.page_count) > 1,
        options=item_options(item),
    )


def _files(item: OrderItem, number: str) -> list[interface.JobFile]:
    if not item.print_sha256:
        return []
    content = read_print_file(item=item)
    return [interface.JobFile(f"{number}.pdf", PDF, item.print_sha256, content, print_file_url(item, number))]


def _papers(item: OrderItem, number: str) -> list[interface.JobFile]:
    """The papers of an EDDM mailing for the post office: drop lists, bundles, facing slips, forms."""
    if item.eddm is None:
        return []
    content = render_eddm_papers(item=item, caller=Caller())
    name, digest = f"{number}-eddm-papers.pdf", hashlib.sha256(content).hexdigest()
    return [interface.JobFile(name, PDF, digest, content, papers_url(item, name), is_printed=False)]


def print_file_url(item: OrderItem, number: str) -> str:
    """For providers that fetch the file; production.jobs.pages.postbacks says how long it is valid."""
    return _signed_url([item.pk, item.print_sha256[:16]], f"{number}.pdf")


def papers_url(item: OrderItem, name: str) -> str:
    return _signed_url([item.pk, PAPERS], name)


def _signed_url(named: list[Any], name: str) -> str:
    token = signing.dumps(named, salt=FILE_SALT)
    return settings.PUBLIC_URL + reverse("production_file", args=[token, name])
