from django.utils.translation import gettext_lazy as _

from fulfillment.core.concurrency_limits import ConcurrencyLimit

SELECTIONS = ConcurrencyLimit("selections", _("selections of routes"), "SELECTIONS_CONCURRENCY")
