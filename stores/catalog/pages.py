from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from fulfillment.core.files.downloads import serves_picture
from stores.catalog.models import StoreProfile


@serves_picture
@require_safe
@cache_control(public=True, immutable=True, max_age=31_536_000)
def serve_logo(request: HttpRequest, sha256: str) -> HttpResponse:
    """The URL contains the content's hash, so browsers may cache it forever."""
    content = StoreProfile.objects.filter(logo_sha256=sha256).values_list("logo", flat=True).first()
    if content is None:
        raise Http404(_("There is no logo at this address."))
    return HttpResponse(bytes(content), content_type="image/png")
