"""Rate limit of the playground for each user: its actions cost as much as API requests."""

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
