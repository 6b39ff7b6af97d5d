from ipaddress import ip_network

import pytest


@pytest.fixture
def this_machine_allowed(settings):
    """What an operator's WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8 does."""
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
