"""When a worker tries a job again."""

from asyncio import CancelledError

from procrastinate import RetryDecision, RetryStrategy
from procrastinate.jobs import Job


class Retries(RetryStrategy):
    """Tries jobs again that a stopping worker interrupts, beside those that end with one of `retry_exceptions`.

    Procrastinate marks an interrupted job as aborted, and no worker would run it again.
    """

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, CancelledError):
            return RetryDecision(retry_in={"seconds": self.wait})
        return super().get_retry_decision(exception=exception, job=job)
