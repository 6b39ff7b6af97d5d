"""Orders a batch after a look at what it will cost, and cancels what is not ordered."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.pages.guards import signed_in
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages
from stores.batches.overview import PROBLEMS, BatchPage
from stores.batches.pages.opening import PORTAL, Place
from stores.batches.selectors import counts_of
from stores.batches.services.batches import cancel_batch, start_check
from stores.batches.services.ordering import order_batch
from stores.orders.services.transitions import actor_of


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def order(request: HttpRequest, batch_id: UUID, place: Place = PORTAL) -> HttpResponse:
    access, batch = place.open(request, batch_id)
    page = BatchPage(batch, counts_of(batch))
    sent = request.POST if request.method == "POST" else request.GET
    only_ready = sent.get("rows") != "all"
    if page.counts.errors and not only_ready:
        messages.error(
            request,
            _("Rows in error: %(errors)s. Correct them, or order ready rows only.")
            % {"errors": number_format(page.counts.errors, force_grouping=True)},
        )
        return redirect(f"{reverse(place.show, args=[batch_id])}?state={PROBLEMS}")
    if request.method == "POST":
        if request.POST.get("seen") != confirmed_state(page):
            messages.warning(request, _("Rows changed meanwhile. Look at the numbers again."))
        else:
            with errors_as_messages(request):
                actor = actor_of(access)
                order_batch(batch=batch, actor=actor, only_ready=only_ready)
                return place.lead_to("show", batch_id)
    if not page.can_order:
        return place.lead_to("show", batch_id)
    return place.render(
        request, "order", page=page, batch=batch, seen=confirmed_state(page), only_ready=only_ready
    )


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def cancel(request: HttpRequest, batch_id: UUID, place: Place = PORTAL) -> HttpResponse:
    batch = place.open(request, batch_id).batch
    if request.method == "POST":
        with errors_as_messages(request):
            cancel_batch(batch=batch, note=request.POST.get("note", "").strip()[:1000])
            messages.success(request, _("The batch is cancelled. Orders that are already placed stay."))
        return place.lead_to("show", batch_id)
    return place.render(request, "cancel", batch=batch)


@harmless
@require_POST
@signed_in
def check_again(request: HttpRequest, batch_id: UUID, place: Place = PORTAL) -> HttpResponse:
    """Checks all rows against the product, its template and prices of now."""
    with errors_as_messages(request):
        start_check(batch=place.open(request, batch_id).batch)
    return place.lead_to("show", batch_id)


def confirmed_state(page: BatchPage) -> str:
    """What a person agrees to: the numbers, and the rows since their last change. Once it changes, the person is to
    confirm again."""
    changed = page.batch.updated.timestamp()
    return f"{page.counts.orderable} {page.counts.errors} {page.counts.total} {changed}"
