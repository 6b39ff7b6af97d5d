from production.jobs.sending import JobSender


def companion() -> JobSender:
    """Called in the worker's event loop."""
    return JobSender()
