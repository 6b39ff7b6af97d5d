"""The concurrency limits of this app's work."""

from fulfillment.core.concurrency_limits import ConcurrencyLimit

SELECTIONS = ConcurrencyLimit("selections", "selections of routes", "SELECTIONS_CONCURRENCY")
