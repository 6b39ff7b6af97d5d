"""The portal's addresses of stores, catalogs, batches, orders and approvals."""

from django.urls import path

from stores.associations.pages import show_directory, show_listed_store, show_stores, withdraw
from stores.batches.pages.new_batch import make_batch
from stores.batches.pages.ordering import cancel, check_again, list_batches, map_columns, order, send_rows
from stores.batches.pages.showing import (
    download_contact_sheet,
    download_rows,
    download_template,
    edit_row,
    show_batch,
)
from stores.orders.pages import (
    advance_application_order,
    cancel_own_order,
    list_orders,
    list_requests,
    show_item_proof,
    show_order,
    show_print_file,
    show_request,
)
from stores.product_pages.pages.artwork import add_artwork, show_artwork, show_artwork_page
from stores.product_pages.pages.catalog import serve_logo, show_catalog, show_store, show_thumbnail
from stores.product_pages.pages.product import add_picture, show_draft, show_product
from stores.proofs.pages import show_live_proof, show_picture

PRODUCT = "catalog/<str:store_id>/<str:product_id>"
BATCH = "batches/<uuid:batch_id>"
BATCH_FILES = "batch-files/<uuid:batch_id>"
ORDERS = "applications/<str:application_id>/orders"

urlpatterns = [
    path("approvals", list_requests, name="approvals"),
    path("approvals/<uuid:order_id>", show_request, name="approval"),
    path("stores", show_directory, name="directory"),
    path("stores/<str:store_id>", show_listed_store, name="directory-store"),
    path("logos/<str:sha256>.png", serve_logo, name="store-logo"),
    path(ORDERS, list_orders, name="application-orders"),
    path(f"{ORDERS}/<str:order_id>", show_order, name="application-order"),
    path(f"{ORDERS}/<str:order_id>/advance", advance_application_order, name="application-order-advance"),
    path(
        f"{ORDERS}/<str:order_id>/items/<path:item_key>/proof",
        show_item_proof,
        name="application-order-proof",
    ),
    path(
        "print-files/<str:application_id>/<str:order_id>/<path:item_key>",
        show_print_file,
        name="application-order-print-file",
    ),
    path("orders", list_orders, name="orders"),
    path("orders/<str:order_id>", show_order, name="order"),
    path("orders/<str:order_id>/cancel", cancel_own_order, name="order-cancel"),
    path("orders/<str:order_id>/items/<path:item_key>/proof", show_item_proof, name="order-proof"),
    path("catalog", show_catalog, name="catalog"),
    path("catalog/<str:store_id>", show_store, name="catalog-store"),
    path(PRODUCT, show_product, name="product"),
    path(f"{PRODUCT}/thumbnail.webp", show_thumbnail, name="product-thumbnail"),
    path(f"{PRODUCT}/picture", add_picture, name="product-picture"),
    path(f"{PRODUCT}/draft", show_draft, name="product-draft"),
    path(f"{PRODUCT}/artwork", show_artwork, name="artwork"),
    path(f"{PRODUCT}/artwork/asset", add_artwork, name="artwork-asset"),
    path(
        f"{PRODUCT}/artwork/<str:asset_id>/<int:first_page>-<int:number>.png",
        show_artwork_page,
        name="artwork-page",
    ),
    path(f"{PRODUCT}/batch", make_batch, name="batch-new"),
    path("batches", list_batches, name="batches"),
    path(BATCH, show_batch, name="batch"),
    path(f"{BATCH}/rows", send_rows, name="batch-rows"),
    path(f"{BATCH}/columns", map_columns, name="batch-mapping"),
    path(f"{BATCH}/check", check_again, name="batch-check"),
    path(f"{BATCH}/order", order, name="batch-order"),
    path(f"{BATCH}/cancel", cancel, name="batch-cancel"),
    path(f"{BATCH_FILES}/contact-sheet.pdf", download_contact_sheet, name="batch-sheet"),
    path(f"{BATCH_FILES}/template.<str:form>", download_template, name="batch-template"),
    path(f"{BATCH_FILES}/rows.<str:form>", download_rows, name="batch-file"),
    path(f"{BATCH}/rows/<str:row_key>", edit_row, name="batch-row"),
    path("live-proof", show_live_proof, name="live-proof"),
    path("live-proof.png", show_picture, name="live-proof-picture"),
    path("applications/<str:application_id>/stores", show_stores, name="application-stores"),
    path(
        "applications/<str:application_id>/stores/<str:request_id>/withdraw",
        withdraw,
        name="association-withdraw",
    ),
]
