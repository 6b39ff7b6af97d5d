from django.utils.translation import gettext_lazy as _

from fulfillment.core.concurrency_limits import ConcurrencyLimit

RENDERINGS = ConcurrencyLimit("renderings", _("renderings"), "RENDERINGS_CONCURRENCY")
# All anonymous visitors of the start page count as one caller and use at most one renderer.
LIVE_PROOFS = ConcurrencyLimit("live proofs", _("live proofs of the start page"), "LIVE_PROOFS_CONCURRENCY")
PICTURES = ConcurrencyLimit("pictures", _("pictures to read"), "PICTURES_CONCURRENCY")
ORDERS = ConcurrencyLimit("orders", _("orders with print files"), "ORDERS_CONCURRENCY")
PRICING_MANY_ITEMS = ConcurrencyLimit(
    "large orders", _("orders and quotes of many items"), "LARGE_ORDERS_CONCURRENCY"
)
# Orders that are read or changed: FILES lasts as long as the reader of an export takes.
HANDLING_LONG_ORDERS = ConcurrencyLimit(
    "long orders", _("long orders to read or change"), "LONG_ORDERS_CONCURRENCY"
)
BATCHES = ConcurrencyLimit("batches", _("changes of batches"), "BATCHES_CONCURRENCY")
