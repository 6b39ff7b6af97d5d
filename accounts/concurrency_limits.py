"""The concurrency limits of this app's work."""

from django.utils.translation import gettext_lazy as _

from fulfillment.core.concurrency_limits import ConcurrencyLimit

PASSWORDS = ConcurrencyLimit("passwords", _("passwords to check"), "PASSWORDS_CONCURRENCY")
# Each locks its owner or its application, and encrypts keys or hashes a password.
CHANGES = ConcurrencyLimit("changes", _("changes of accounts and applications"), "CHANGES_CONCURRENCY")
# Pages of people, and of addresses without a session.
PAGES = ConcurrencyLimit("pages", _("pages"), "PAGES_CONCURRENCY", one_for_each=True)
VISITOR_PAGES = ConcurrencyLimit("visitor pages", _("pages"), "VISITOR_PAGES_CONCURRENCY")
