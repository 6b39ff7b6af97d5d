from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.pages.confirmation import require_confirmation
from accounts.rate_limits import cached_rejection, count_request, refusal
from fulfillment.core.api.errors import problem
from fulfillment.core.api.form_limits import SIGNED_IN_FORM, stated_size
from fulfillment.core.http.addresses import is_for_programs
from fulfillment.core.http.refusal_page import refusal_page

BEFORE_TWO_FACTOR = ("/profile/two-factor", "/accounts/", "/static/")


class UploadLimits:
    """Limits large forms of the portal before they are parsed, which may write 32 MB to disk.

    `process_view` must run before that of the CSRF protection, which parses the form.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, *arguments: Any) -> HttpResponse | None:
        size, path = stated_size(request), request.path_info
        if size <= SIGNED_IN_FORM or is_for_programs(path) or path.startswith("/admin/"):
            return None
        if not getattr(view, "takes_large_forms", False):
            return problem(413, "body_too_large", f"The body has {size:,} bytes; so many are not taken here.")
        bucket = f"uploads:{request.user.pk}"
        standing = cached_rejection(bucket) or count_request(
            policy="uploads", bucket=bucket, quota=settings.UPLOADS_PER_MINUTE
        )
        return refusal_page(refusal(standing)) if standing.is_exceeded else None


class Confirmations:
    """Requires a confirmation of signed-in users before a dangerous action reaches its view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, _: Any, arguments: dict[str, Any]
    ) -> HttpResponse | None:
        if is_for_programs(request.path_info) or not request.user.is_authenticated:
            return None
        return require_confirmation(request, view, arguments)


class OperatorTwoFactor:
    """With OPERATOR_TWO_FACTOR=required, redirects operators without a second factor to its setup.

    Not only from the admin: a page could give an application a token with the operator's rights.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        required = settings.OPERATOR_TWO_FACTOR == "required"
        path = request.path_info
        if required and not path.startswith(BEFORE_TWO_FACTOR):
            user: Any = request.user
            if user.is_authenticated and user.is_operator and user.two_factor_since is None:
                return redirect("portal:two-factor")
        return self.get_response(request)
