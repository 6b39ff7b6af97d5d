"""The concurrency limits of this app's work."""

from fulfillment.core.concurrency_limits import ConcurrencyLimit

PASSWORDS = ConcurrencyLimit("passwords", "passwords to check", "PASSWORDS_CONCURRENCY")
# Each locks its owner or its application, and encrypts keys or hashes a password.
CHANGES = ConcurrencyLimit("changes", "changes of accounts and applications", "CHANGES_CONCURRENCY")
# Pages of people, and of addresses without a session.
PAGES = ConcurrencyLimit("pages", "pages", "PAGES_CONCURRENCY", one_for_each=True)
VISITOR_PAGES = ConcurrencyLimit("visitor pages", "pages", "VISITOR_PAGES_CONCURRENCY")
