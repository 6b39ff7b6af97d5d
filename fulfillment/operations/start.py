from fulfillment.core.plugins import offered


def refuse_unsafe_start() -> None:
    """Runs the checks of apps before web server, worker or deployment start. Raises ImproperlyConfigured."""
    for check in offered("deploy", "before_start"):
        check()
