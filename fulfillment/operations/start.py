from fulfillment.core.plugins import offered


def refuse_unsafe_start() -> None:
    """What apps check before web server, worker and deployment begin. Raises ImproperlyConfigured."""
    for check in offered("deploy", "before_start"):
        check()
