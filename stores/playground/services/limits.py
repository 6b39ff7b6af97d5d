"""How often one person may use the playground: what it does is as much work as a request of the API."""

from django.conf import settings

from accounts.models import User
from accounts.rate_limits import cached_rejection, count_request, refusal


def count_playground_request(*, user: User) -> None:
    """Raises TooManyRequests."""
    bucket = f"playground:{user.pk}"
    standing = cached_rejection(bucket) or count_request(
        policy="playground", bucket=bucket, quota=settings.PLAYGROUND_REQUESTS_PER_MINUTE
    )
    if standing.is_exceeded:
        raise refusal(standing)
