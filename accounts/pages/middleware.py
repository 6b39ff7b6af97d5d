from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from fulfillment.site.addresses import is_for_programs

BEFORE_TWO_FACTOR = ("/profile/two-factor", "/accounts/", "/static/")


class OperatorTwoFactor:
    """With OPERATOR_TWO_FACTOR=required, redirects operators without a second factor to its setup.

    Not only from the admin: a page could give an application a token with the operator's rights.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        required = settings.OPERATOR_TWO_FACTOR == "required"
        path = request.path_info
        if required and not is_for_programs(path) and not path.startswith(BEFORE_TWO_FACTOR):
            user: Any = request.user
            if user.is_authenticated and user.is_operator and user.two_factor_since is None:
                return redirect("portal:two-factor")
        return self.get_response(request)
