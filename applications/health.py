from applications.webhooks.selectors.deliveries import worker_health


def _worker() -> str:
    return "" if worker_health().alive else "no worker has been heard of for 30 seconds"


PROBES = {"worker": _worker}
