from fulfillment.core.concurrency_limits import ConcurrencyLimit

RENDERINGS = ConcurrencyLimit("renderings", "renderings", "RENDERINGS_CONCURRENCY")
# All anonymous visitors of the start page count as one caller and use at most one renderer.
LIVE_PROOFS = ConcurrencyLimit("live proofs", "live proofs of the start page", "LIVE_PROOFS_CONCURRENCY")
PICTURES = ConcurrencyLimit("pictures", "pictures to read", "PICTURES_CONCURRENCY")
ORDERS = ConcurrencyLimit("orders", "orders with print files", "ORDERS_CONCURRENCY")
PRICING_MANY_ITEMS = ConcurrencyLimit(
    "large orders", "orders and quotes of many items", "LARGE_ORDERS_CONCURRENCY"
)
# Orders that are read or changed: FILES lasts as long as the reader of an export takes.
HANDLING_LONG_ORDERS = ConcurrencyLimit(
    "long orders", "long orders to read or change", "LONG_ORDERS_CONCURRENCY"
)
BATCHES = ConcurrencyLimit("batches", "changes of batches", "BATCHES_CONCURRENCY")
