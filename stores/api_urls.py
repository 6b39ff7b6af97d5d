from django.urls import URLPattern, path

from fulfillment.core.api.viewsets import ApiViewSet
from stores.associations.api import AssociationViewSet
from stores.batches.api.batches import BatchViewSet
from stores.batches.api.rows import (
    BatchFileViewSet,
    BatchRowChangeViewSet,
    BatchRowViewSet,
    BatchSheetViewSet,
)
from stores.budgets.api.budgets import BudgetEntryViewSet, BudgetViewSet
from stores.catalog.api.stores import ProductViewSet, StoreUserViewSet, StoreViewSet
from stores.orders.api.approvals import ApprovalViewSet
from stores.orders.api.export import OrderExportViewSet
from stores.orders.api.files import OrderFileViewSet
from stores.orders.api.orders import OrderViewSet
from stores.orders.api.quotes import QuoteViewSet
from stores.proofs.api.assets import AssetViewSet
from stores.proofs.api.proofs import ArtworkViewSet, ProofViewSet

STORE = "store/<str:store_id>"
PRODUCT, ORDER = f"{STORE}/product/<str:product_id>", f"{STORE}/order/<str:order_id>"
BATCH, BUDGET = f"{STORE}/batch/<str:batch_id>", f"{STORE}/budget/<str:budget_id>"
ASSOCIATION = "association/<str:association_id>"


def _route(address: str, view_set: type[ApiViewSet], name: str, **methods: str) -> URLPattern:
    return path(address, view_set.as_view(methods), name=name)


# Each is tried in turn: the most frequent ones first.
urlpatterns = [
    _route("store", StoreViewSet, "store-list", get="list"),
    _route(STORE, StoreViewSet, "store-detail", get="retrieve"),
    _route(f"{STORE}/product", ProductViewSet, "product-list", get="list"),
    _route(PRODUCT, ProductViewSet, "product-detail", get="retrieve"),
    _route(f"{PRODUCT}/proof", ProofViewSet, "proof-list", post="create"),
    _route(f"{STORE}/quote", QuoteViewSet, "quote-list", post="create"),
    _route(f"{STORE}/order", OrderViewSet, "order-list", post="create"),
    _route(f"{STORE}/order/exportview", OrderExportViewSet, "order-exportview", get="list"),
    _route(ORDER, OrderViewSet, "order-detail", get="retrieve"),
    _route(f"{ORDER}/history", OrderViewSet, "order-history", get="history"),
    _route(f"{ORDER}/cancel", OrderViewSet, "order-cancel", post="cancel"),
    _route(f"{ORDER}/cancel/refuse", OrderViewSet, "order-cancel-refuse", post="refuse_cancellation"),
    _route(f"{ORDER}/status", OrderViewSet, "order-status", post="status"),
    _route(f"{ORDER}/approve", ApprovalViewSet, "order-approve", post="approve"),
    _route(f"{ORDER}/deny", ApprovalViewSet, "order-deny", post="deny"),
    _route(f"{ORDER}/advance", OrderViewSet, "order-advance", post="advance"),
    _route(f"{ORDER}/packing-slip", OrderFileViewSet, "order-packing-slip", get="packing_slip"),
    _route(
        f"{ORDER}/item/<str:item_key>/eddm-papers", OrderFileViewSet, "order-eddm-papers", get="eddm_papers"
    ),
    _route(f"{ORDER}/item/<str:item_key>/print-file", OrderFileViewSet, "order-print-file", get="print_file"),
    _route(f"{STORE}/budget", BudgetViewSet, "budget-list", get="list", post="create"),
    _route(BUDGET, BudgetViewSet, "budget-detail", get="retrieve", patch="partial_update", delete="destroy"),
    _route(f"{BUDGET}/adjustment", BudgetViewSet, "budget-adjust", post="adjust"),
    _route(f"{BUDGET}/entry", BudgetEntryViewSet, "budget-entry-list", get="list"),
    _route(f"{STORE}/batch", BatchViewSet, "batch-list", post="create"),
    _route(BATCH, BatchViewSet, "batch-detail", get="retrieve", patch="partial_update"),
    _route(f"{BATCH}/contact-sheet", BatchSheetViewSet, "batch-contact-sheet", get="contact_sheet"),
    _route(f"{BATCH}/template", BatchSheetViewSet, "batch-template", get="template"),
    _route(f"{BATCH}/rows", BatchFileViewSet, "batch-rows", put="update"),
    _route(f"{BATCH}/row", BatchRowViewSet, "batch-row-list", get="list"),
    _route(f"{BATCH}/row/<str:row_key>", BatchRowChangeViewSet, "batch-row-detail", patch="partial_update"),
    *(
        _route(f"{BATCH}/{action}", BatchViewSet, f"batch-{action}", post=action)
        for action in ("check", "order", "cancel", "approve", "deny")
    ),
    _route(f"{STORE}/quote/<str:quote_id>", QuoteViewSet, "quote-detail", get="retrieve"),
    _route(f"{PRODUCT}/artwork", ArtworkViewSet, "artwork-list", post="create"),
    _route(f"{STORE}/asset", AssetViewSet, "asset-list", post="create"),
    _route(f"{STORE}/user/<str:user_id>", StoreUserViewSet, "store-user-roles", get="roles"),
    _route("association", AssociationViewSet, "association-list", get="list", post="create"),
    _route(ASSOCIATION, AssociationViewSet, "association-detail", get="retrieve"),
    *(
        _route(f"{ASSOCIATION}/{action}", AssociationViewSet, f"association-{action}", post=action)
        for action in ("withdraw", "approve", "deny")
    ),
]
