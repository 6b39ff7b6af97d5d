from django.urls import path

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
from stores.orders.api.export import OrderExportViewSet
from stores.orders.api.files import OrderFileViewSet
from stores.orders.api.orders import OrderViewSet
from stores.orders.api.quotes import QuoteViewSet
from stores.orders.approvals.api import ApprovalViewSet
from stores.proofs.api.assets import AssetViewSet
from stores.proofs.api.proofs import ArtworkViewSet, ProofViewSet

ORDER = "store/<str:store_id>/order/<str:order_id>"
BATCH = "store/<str:store_id>/batch/<str:batch_id>"
BUDGET = "store/<str:store_id>/budget/<str:budget_id>"

# Each is tried in turn: the most frequent ones first.
urlpatterns = [
    path("store", StoreViewSet.as_view({"get": "list"}), name="store-list"),
    path("store/<str:store_id>", StoreViewSet.as_view({"get": "retrieve"}), name="store-detail"),
    path("store/<str:store_id>/product", ProductViewSet.as_view({"get": "list"}), name="product-list"),
    path(
        "store/<str:store_id>/product/<str:product_id>",
        ProductViewSet.as_view({"get": "retrieve"}),
        name="product-detail",
    ),
    path(
        "store/<str:store_id>/product/<str:product_id>/proof",
        ProofViewSet.as_view({"post": "create"}),
        name="proof-list",
    ),
    path("store/<str:store_id>/quote", QuoteViewSet.as_view({"post": "create"}), name="quote-list"),
    path("store/<str:store_id>/order", OrderViewSet.as_view({"post": "create"}), name="order-list"),
    path(
        "store/<str:store_id>/order/exportview",
        OrderExportViewSet.as_view({"get": "list"}),
        name="order-exportview",
    ),
    path(ORDER, OrderViewSet.as_view({"get": "retrieve"}), name="order-detail"),
    path(f"{ORDER}/history", OrderViewSet.as_view({"get": "history"}), name="order-history"),
    path(f"{ORDER}/cancel", OrderViewSet.as_view({"post": "cancel"}), name="order-cancel"),
    path(
        f"{ORDER}/cancel/refuse",
        OrderViewSet.as_view({"post": "refuse_cancellation"}),
        name="order-cancel-refuse",
    ),
    path(f"{ORDER}/status", OrderViewSet.as_view({"post": "status"}), name="order-status"),
    path(f"{ORDER}/approve", ApprovalViewSet.as_view({"post": "approve"}), name="order-approve"),
    path(f"{ORDER}/deny", ApprovalViewSet.as_view({"post": "deny"}), name="order-deny"),
    path(f"{ORDER}/advance", OrderViewSet.as_view({"post": "advance"}), name="order-advance"),
    path(
        f"{ORDER}/packing-slip",
        OrderFileViewSet.as_view({"get": "packing_slip"}),
        name="order-packing-slip",
    ),
    path(
        f"{ORDER}/item/<str:item_key>/eddm-papers",
        OrderFileViewSet.as_view({"get": "eddm_papers"}),
        name="order-eddm-papers",
    ),
    path(
        f"{ORDER}/item/<str:item_key>/print-file",
        OrderFileViewSet.as_view({"get": "print_file"}),
        name="order-print-file",
    ),
    path(
        "store/<str:store_id>/budget",
        BudgetViewSet.as_view({"get": "list", "post": "create"}),
        name="budget-list",
    ),
    path(
        BUDGET,
        BudgetViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="budget-detail",
    ),
    path(f"{BUDGET}/adjustment", BudgetViewSet.as_view({"post": "adjust"}), name="budget-adjust"),
    path(f"{BUDGET}/entry", BudgetEntryViewSet.as_view({"get": "list"}), name="budget-entry-list"),
    path("store/<str:store_id>/batch", BatchViewSet.as_view({"post": "create"}), name="batch-list"),
    path(BATCH, BatchViewSet.as_view({"get": "retrieve", "patch": "partial_update"}), name="batch-detail"),
    path(
        f"{BATCH}/contact-sheet",
        BatchSheetViewSet.as_view({"get": "contact_sheet"}),
        name="batch-contact-sheet",
    ),
    path(f"{BATCH}/template", BatchSheetViewSet.as_view({"get": "template"}), name="batch-template"),
    path(f"{BATCH}/rows", BatchFileViewSet.as_view({"put": "update"}), name="batch-rows"),
    path(f"{BATCH}/row", BatchRowViewSet.as_view({"get": "list"}), name="batch-row-list"),
    path(
        f"{BATCH}/row/<str:row_key>",
        BatchRowChangeViewSet.as_view({"patch": "partial_update"}),
        name="batch-row-detail",
    ),
    *(
        path(f"{BATCH}/{action}", BatchViewSet.as_view({"post": action}), name=f"batch-{action}")
        for action in ("check", "order", "cancel", "approve", "deny")
    ),
    path(
        "store/<str:store_id>/quote/<str:quote_id>",
        QuoteViewSet.as_view({"get": "retrieve"}),
        name="quote-detail",
    ),
    path(
        "store/<str:store_id>/product/<str:product_id>/artwork",
        ArtworkViewSet.as_view({"post": "create"}),
        name="artwork-list",
    ),
    path("store/<str:store_id>/asset", AssetViewSet.as_view({"post": "create"}), name="asset-list"),
    path(
        "store/<str:store_id>/user/<str:user_id>",
        StoreUserViewSet.as_view({"get": "roles"}),
        name="store-user-roles",
    ),
    path(
        "association",
        AssociationViewSet.as_view({"get": "list", "post": "create"}),
        name="association-list",
    ),
    path(
        "association/<str:association_id>",
        AssociationViewSet.as_view({"get": "retrieve"}),
        name="association-detail",
    ),
    *(
        path(
            f"association/<str:association_id>/{action}",
            AssociationViewSet.as_view({"post": action}),
            name=f"association-{action}",
        )
        for action in ("withdraw", "approve", "deny")
    ),
]
