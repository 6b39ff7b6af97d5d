"""What `fulfillment.operations` and the audit trail use of this app (docs/architecture.md)."""

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from django.core.files.storage import default_storage

from accounts.models import User
from fulfillment.core.audit.personal_data import ErasureOptions, PersonalData
from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.db.prepared import skip_numbers
from stores.batches.services import personal_data as batches
from stores.budgets.services import personal_data as budgets
from stores.catalog.services import uploads as catalog
from stores.catalog.services.refresh import refresh_renderings
from stores.editor.services import drafts as editor
from stores.orders.models import OrderItem
from stores.orders.services import personal_data as orders
from stores.orders.services import recipients
from stores.orders.services import retention as old_orders
from stores.proofs.file_names import DOCUMENTS, asset_file, document_file
from stores.proofs.models import Asset, AssetFormat
from stores.proofs.services import retention as proofs
from stores.proofs.services.assets import remove_document
from stores.templates.models import Font
from stores.templates.selectors import font_file

ERASABLE: dict[str, tuple[str, ...]] = {
    "stores.BudgetEntry": ("note",),
    "stores.OrderHistory": ("note",),
    "stores.TemplateChange": (),
}
# The history of a test order is deleted with it.
PRUNABLE = {
    "stores.OrderHistory": "EXISTS (SELECT FROM stores_order placed WHERE placed.id = OLD.order_id AND placed.is_test)",
}
# Proofs are rendered again on request, and stores with equal templates share them.
RENDERED_AGAIN = ("stores.Proof",)


def after_migrations() -> None:
    refresh_renderings()


def named_files() -> Iterator[str]:
    """Stored files that rows refer to, except those that can be rendered again."""
    yield from (font_file(font) for font in Font.objects.all())
    pictures = Asset.objects.exclude(format=AssetFormat.PDF).values_list("pk", "format")
    yield from (asset_file(*row) for row in pictures.iterator())
    documents = Asset.objects.filter(format=AssetFormat.PDF).values_list("sha256", flat=True)
    yield from (document_file(sha256) for sha256 in documents.distinct().iterator())
    with_plates = Asset.objects.exclude(plates="").values_list("pk", "plates")
    yield from (asset_file(*row) for row in with_plates.iterator())
    # Items with equal data share one print file.
    printed = OrderItem.objects.exclude(print_file="").values_list("print_file", flat=True)
    yield from printed.order_by().distinct().iterator()


def remove_unnamed(names: Iterable[str]) -> None:
    """Removes files of a failed restore. A request may just share one: a PDF has a lock for that, and a font stays."""
    for name in names:
        kind = PurePath(name).parts[0]
        if kind == DOCUMENTS:
            remove_document(sha256=PurePath(name).stem)
        elif kind != "fonts" and default_storage.exists(name):
            default_storage.delete(name)


def skip_used_numbers() -> Iterator[str]:
    """A print provider takes a known number for a job that it has, and its report would move another order."""
    number = skip_numbers("stores_order_number")
    yield f"New orders begin at number {number}: earlier numbers may have been given."


def personal_data() -> list[PersonalData]:
    return [*orders.personal_data(), *batches.personal_data(), *budgets.personal_data()]


def finish_erasure(user: User, options: ErasureOptions) -> list[str]:
    if not options.erase_orders:
        return []
    remaining = orders.erase_placed_orders(user=user)
    if not remaining:
        return []
    listed = " ".join(f"--order {number}" for number in remaining)
    return [
        f"{len(remaining)} orders keep their recipients: they are not shipped yet, or their files cannot be deleted. "
        f"Later, run: manage.py erase_recipient {listed}"
    ]


def retention_rules() -> list[RetentionRule]:
    return [
        *recipients.retention_rules(),
        *proofs.retention_rules(),
        *editor.retention_rules(),
        *catalog.retention_rules(),
        *old_orders.retention_rules(),
        *old_orders.rules_for_old_tests(),
        *batches.retention_rules(),
    ]
