from applications.webhooks.sending.client import EndpointClient
from applications.webhooks.sending.sender import Sender


def services() -> list[Sender]:
    """Called in the worker's event loop."""
    return [Sender(EndpointClient())]
