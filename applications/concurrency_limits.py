"""The concurrency limits of this app's work."""

from fulfillment.core.concurrency_limits import ConcurrencyLimit

EVENT_WAITS = ConcurrencyLimit("event waits", "requests that wait for events", "EVENT_WAITS_CONCURRENCY")
