"""Builds jobs for adapters."""

from datetime import UTC, datetime, time

from django.conf import settings
from django.core import signing
from django.urls import reverse

from production.adapters import interface
from production.jobs.models import Job
from stores.orders.models import RECIPIENT_FIELDS, Order, OrderItem
from stores.orders.services.print_files import read_print_file

FILE_SALT = "production.files"
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
        files=_files(item, number),
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
    )


def _files(item: OrderItem, number: str) -> list[interface.JobFile]:
    if not item.print_sha256:
        return []
    content = read_print_file(item=item)
    return [interface.JobFile(f"{number}.pdf", PDF, item.print_sha256, content, print_file_url(item, number))]


def print_file_url(item: OrderItem, number: str) -> str:
    """The signed URL for providers that fetch the file; see production.jobs.pages.postbacks."""
    token = signing.dumps([item.pk, item.print_sha256[:16]], salt=FILE_SALT)
    return settings.PUBLIC_URL + reverse("production_file", args=[token, f"{number}.pdf"])
