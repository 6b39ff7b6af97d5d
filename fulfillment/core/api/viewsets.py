"""The base of every view set of the API."""

from typing import Any

from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from fulfillment.core.api.parameters import check_parameter_names


# A docstring would become the description of every operation.
class ApiViewSet(ViewSet):
    # The heading in the API reference: the name of a `Tag` that an app declares.
    tag = "Service"
    # Set by views that report unknown parameters together with other faults of the query.
    reads_own_query = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.META.get("QUERY_STRING") and not self.reads_own_query:
            check_parameter_names(self, request.query_params)
