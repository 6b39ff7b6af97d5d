"""The concurrency limits of this app's work."""

from fulfillment.core.concurrency_limits import ConcurrencyLimit

PASSWORDS = ConcurrencyLimit("passwords", "passwords to check", "PASSWORDS_CONCURRENCY")
