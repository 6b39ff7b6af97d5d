from django.http import HttpRequest
from django.utils.translation import gettext_noop as _

from delivery.datasets.selectors import live_dataset
from fulfillment.core.plugins import DashboardCard, MenuItem

NAVIGATION = [
    MenuItem(_("Delivery"), _("EDDM data sets"), "map", "delivery.dataset", 300),
    MenuItem(_("Delivery"), _("EDDM imports"), "upload_file", "delivery.importrun", 305, minor=True),
    MenuItem(_("Delivery"), _("EDDM postage"), "payments", "delivery.postageprice", 310, minor=True),
    MenuItem(_("Delivery"), _("PS Form 3587"), "description", "delivery.officialform", 315, minor=True),
]
# By model: what the list is for, on the page *System*.
ABOUT = {
    "delivery.importrun": _("Route files that were read, with their errors."),
    "delivery.postageprice": _("Postage of a piece, by the day from which it is valid."),
    "delivery.officialform": _("The form of the postal service that mailings print."),
}


def dashboard_cards(request: HttpRequest) -> list[DashboardCard]:
    if not getattr(request.user, "is_operator", False):
        return []
    return [DashboardCard("admin/dashboard/eddm.html", {"vintage": live_dataset()}, 400)]
