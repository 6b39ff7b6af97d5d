"""The page to choose the routes of a mailing: a form and, with JavaScript, a map.

One form with two buttons, so that all of it works by keyboard and without script; the script sends the same form and
takes the parts it needs out of the answer.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.pages.guards import signed_in, signed_in_user
from applications.registration.selectors.actors import actors_of, chosen_actor
from delivery.selection.maps import with_tiles
from delivery.selection.models import EddmSelection
from delivery.selection.pages.chooser import choose_and_save, mailing_context, open_mailing, sent_values
from delivery.selection.selectors.selections import own_selections
from fulfillment.core import plugins
from fulfillment.core.api.form_limits import takes_large_forms
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.http.policies import PAGE_POLICY

SAVED_SHOWN = 10


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@takes_large_forms
def show_mailing(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    actors = actors_of(user)
    actor = chosen_actor(actors, sent_values(request).get("as", ""))
    products = [
        product
        for listed in plugins.offered("mailing_prices", "mailing_products")
        for product in listed(actor.caller, user)
    ]
    page = open_mailing(request, actor=actor, owner=actors[0], products=products)
    saved = choose_and_save(request, page)
    if saved is not None:
        return redirect("portal:mailing-selection", saved.pk)
    own = EddmSelection.objects.filter(own_selections(actors[0].caller)).order_by("-created")
    context = {**mailing_context(page), "actors": actors, "saved": own[:SAVED_SHOWN], "part": "catalog"}
    return with_tiles(render(request, "delivery/mailing.html", context), PAGE_POLICY)
