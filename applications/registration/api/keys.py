from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from applications.registration.api.applications import WRITE
from applications.registration.api.examples import KEY_RESPONSE
from applications.registration.api.serializers import KeySerializer
from applications.registration.selectors.applications import application_to_write
from applications.registration.selectors.records import key_record
from applications.registration.services.keys import regenerate_key
from fulfillment.core.api.access import Access
from fulfillment.core.api.viewsets import ApiViewSet


class KeyViewSet(ApiViewSet):
    tag = "Applications"
    access = {
        "regenerate": Access(
            rule="Users who hold one of the permissions on the application.",
            applications=False,
            permissions=WRITE,
        ),
    }

    errors = {"regenerate": {409: "The key has ended; add a new one instead."}}

    @extend_schema(
        operation_id="application_key_regenerate",
        summary="Regenerate a key",
        description="The key is deleted and a new one with the same dates and a new secret value takes its place, "
        "under a new ID. The old secret no longer works when the response arrives. A body is ignored.",
        request=None,
        responses={200: KeySerializer},
        examples=[KEY_RESPONSE],
    )
    def regenerate(self, request: Request, application_id: str, key_id: str) -> Response:
        application = application_to_write(request.auth, application_id)
        key = regenerate_key(application=application, key_id=key_id)
        return Response(key_record(key, in_full=True))
