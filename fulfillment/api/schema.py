"""The OpenAPI description: what each operation declares, plus what the frame adds to all of them."""

from drf_spectacular.openapi import AutoSchema


class OperationSchema(AutoSchema):
    pass
