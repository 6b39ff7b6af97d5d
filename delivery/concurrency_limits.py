from fulfillment.core.concurrency_limits import ConcurrencyLimit

SELECTIONS = ConcurrencyLimit("selections", "selections of routes", "SELECTIONS_CONCURRENCY")
