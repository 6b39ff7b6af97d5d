"""What the page of a product shows while a person types in it."""

from base64 import b64encode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from accounts.pages.guards import signed_in, signed_in_user
from accounts.rate_limits import enforce_limit
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.errors import DomainError, TooManyRequests
from fulfillment.core.files.downloads import picture_refusal, serves_picture
from fulfillment.core.http.dangerous import harmless
from stores.playground.pages.product import open_playground
from stores.proofs.services.live_proofs import draw_draft


@serves_picture
@harmless
@require_POST
@signed_in
@takes_large_forms
def show_draft(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    """The pages that show the input named `typed`."""
    try:
        enforce_limit("drafts", signed_in_user(request).pk, quota=settings.DRAFTS_PER_MINUTE)
    except TooManyRequests as error:
        return picture_refusal(error)
    page = open_playground(request, store_id, product_id)
    typed = request.POST.get("typed", "")
    try:
        drawn = draw_draft(
            caller=page.caller,
            product=page.product.version,
            values=page.template_data,
            field=next((one.name for one in page.fields if one.input_name == typed), ""),
        )
    except DomainError as error:
        if getattr(error, "retry_after", 0):
            return picture_refusal(error)
        # The proof that follows says what is wrong.
        drawn = {}
    pages = {number: f"data:image/png;base64,{b64encode(png).decode()}" for number, png in drawn.items()}
    return JsonResponse({"Pages": pages}, headers={"Cache-Control": "no-store"})
