"""A new batch of a product: as whom it is ordered, and where its rows are sent."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.pages.guards import signed_in_form, signed_in_user
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.applications import Requester, chosen_actor
from fulfillment.core.errors import DomainError, Forbidden, Invalid
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.text import MAX_INTEGER, parse_number
from stores.batches.models import MAX_ROWS, BatchMode
from stores.batches.pages.showing import PORTAL, BatchSite
from stores.batches.services.batches import create_batch
from stores.catalog.models import Store
from stores.orders.selectors.access import WRITE, authorize_store
from stores.product_pages.address_form import AddressForm
from stores.product_pages.selectors import actors_at, product_page, store_named

MODES = (
    (
        BatchMode.RECIPIENTS,
        gettext_lazy("Send each row to its own recipient"),
        gettext_lazy("An order for each row, such as a mailing."),
    ),
    (
        BatchMode.ITEMS,
        gettext_lazy("Send all rows to one recipient"),
        gettext_lazy("One order, such as business cards for a company."),
    ),
)


@signed_in_form(harmless)
def make_batch(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    store = store_named(store_id)
    back = reverse("portal:product", args=[store_id, product_id])
    return show_form(request, store, product_id, actors_at(signed_in_user(request), store), PORTAL, back)


def show_form(
    request: HttpRequest, store: Store, product_id: str, actors: list[Requester], site: BatchSite, back: str
) -> HttpResponse:
    values, store_id = request.POST, store.external_id
    actor = chosen_actor(actors, (values or request.GET).get("as", ""))
    product = product_page(actor.caller, store_id, product_id)
    address, problems = AddressForm.of(values), []
    if request.method == "POST":
        try:
            enforce_page_limit("product-page", signed_in_user(request).pk)
            if actor.key != values.get("as", actor.key):
                raise Forbidden(_("You can no longer order as this application. Choose another one."))
            access = authorize_store(actor.caller, store_id, WRITE)
            batch = create_batch(access=access, product_id=product_id, values=_read_values(values, address))
            return site.lead_to("show", batch.pk)
        except DomainError as error:
            problems = error.messages
            problems = address.take_errors(error, problems)
    return site.render(
        request,
        "new",
        back_to=back,
        product=product,
        actors=actors,
        actor=actor,
        modes=[(mode, title, help_, f"{MAX_ROWS[mode]:,}") for mode, title, help_ in MODES],
        mode=values.get("mode", BatchMode.RECIPIENTS),
        name=values.get("name", ""),
        quantity=values.get("quantity", str(product.record["DefaultQty"])),
        country=values.get("country", "US"),
        address=address,
        problems=problems,
    )


def _read_values(values: Any, address: AddressForm) -> dict[str, Any]:
    """The fields of the batch."""
    number, mode = values.get("quantity", "").strip(), values.get("mode", "")
    if mode not in BatchMode.values:
        raise Invalid.at("/Mode", "invalid_choice", _("Choose where the rows are sent."))
    quantity = parse_number(number, most=MAX_INTEGER)
    if number and not quantity:
        raise Invalid.at("/Quantity", "invalid", _("Enter a whole number of pieces for each row."))
    recipient = {name: value for name, value in address.values.items() if value}
    recipient["CountryCode"] = values.get("country", "").strip().upper()[:2]
    return {
        "mode": mode,
        "name": values.get("name", "").strip()[:200],
        "quantity": quantity,
        "recipient": recipient if mode == BatchMode.ITEMS else {},
    }
