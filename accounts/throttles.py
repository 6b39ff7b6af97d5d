"""Limits for passwords, links by mail and new accounts.

Each try is counted before it is checked, in the store of `rate_limits`: of many at once exactly the allowed number
get as far as the password. (django-axes looks first and counts after, which lets as many by as come at once.)
"""

from django.conf import settings

from accounts.names import split_sign_in_name
from accounts.rate_limits import (
    DAY,
    HOUR,
    QUARTER_OF_AN_HOUR,
    RateLimitStatus,
    cached_rejection,
    count_request,
    enforce_limit,
    forget,
    refund,
    refusal,
)
from fulfillment.core.http.addresses import rate_limit_key_for_ip
from fulfillment.core.secrets import digest


def count_sign_in(*, name: str, address: str, device: str = "") -> RateLimitStatus | None:
    """Counts a try for the typed name and the client address; returns the rate limit state that refuses it, if any.

    The bucket is made from the typed text, never from the account: if two spellings shared a limit only where the
    account exists, the limit would reveal that it exists. A `device` known to the account has tries of its own, which
    no one else can use up.
    """
    return _first_over(
        (_device_bucket(device) or _name_bucket(name), settings.SIGN_IN_TRIES_PER_ACCOUNT),
        (_address_bucket("sign-in", address), settings.SIGN_IN_TRIES_PER_ADDRESS),
    )


def count_account_try(*, account: str) -> RateLimitStatus | None:
    """Counts a try on the account, however its name was written; the refusal, if any, which no response may reveal."""
    return _first_over((_account_bucket(account), settings.SIGN_IN_TRIES_PER_ACCOUNT))


def count_confirmation(*, account: str, address: str, device: str = "") -> RateLimitStatus | None:
    """Counts a password entered in a session against the limit of account or known device; the refusal, if any."""
    return _first_over(
        (_device_bucket(device) or _account_bucket(account), settings.SIGN_IN_TRIES_PER_ACCOUNT),
        (_address_bucket("sign-in", address), settings.SIGN_IN_TRIES_PER_ADDRESS),
    )


def forget_failures(*, name: str, account: str, address: str, device: str = "") -> None:
    """Starts the account's count again after the right password; this try does not count against the address.

    On a known device only its own count starts again: guesses from elsewhere gain nothing by it.
    """
    if device:
        forget(_device_bucket(device))
    else:
        forget(_name_bucket(name))
        forget(_account_bucket(account))
    if address:
        refund(_address_bucket("sign-in", address))


def count_second_step(*, account: str) -> None:
    """Raises TooManyRequests after too many codes for one account."""
    if over := _first_over((_second_step_bucket(account), settings.SECOND_STEPS_PER_ACCOUNT)):
        raise refusal(over)


def forget_second_steps(*, account: str) -> None:
    forget(_second_step_bucket(account))


def count_reset(*, address: str) -> RateLimitStatus | None:
    return _first_over((_address_bucket("reset", address), settings.RESETS_PER_ADDRESS))


def count_sign_up(*, address: str) -> RateLimitStatus | None:
    return _first_over((_address_bucket("sign-up", address), settings.SIGN_UPS_PER_ADDRESS))


def count_visitor_mail(*, email: str) -> RateLimitStatus | None:
    """Counts a mail that a visitor, or the user of an unconfirmed address, causes; the refusal, if any.

    One count for all kinds of such mails: the owner of the address may want none. Refusals are not shown to visitors,
    and unknown addresses count alike.
    """
    owner = normalize_mailbox(email)
    of_hour = _first_over((f"mail-of-hour:{owner}", settings.MAILS_PER_HOUR), window=HOUR)
    return of_hour or _first_over((f"mail-of-day:{owner}", settings.MAILS_PER_DAY), window=DAY)


def count_invitation_mail(*, user_id: str, email: str) -> RateLimitStatus | None:
    """Counts a mail to an address that a user typed: against the user, and against the address from all users."""
    return _first_over(
        (f"invitations-of:{user_id}", settings.INVITATIONS_PER_USER),
        (f"invitations-to:{normalize_mailbox(email)}", settings.INVITATIONS_PER_EMAIL),
        window=DAY,
    )


def count_email_change(*, user_id: str) -> RateLimitStatus | None:
    """Counts a link to a new address that a user typed, also after the change before was cancelled."""
    return _first_over((f"email-changes:{user_id}", settings.EMAIL_CHANGES_PER_USER), window=DAY)


def count_notification_mail(*, user_id: str, kind: str) -> RateLimitStatus:
    """Counts a mail of one kind to one user."""
    bucket, quota = f"notification:{user_id}:{kind}", settings.NOTIFICATION_MAILS_PER_HOUR
    return cached_rejection(bucket) or count_request(
        policy="notification", bucket=bucket, quota=quota, window=HOUR
    )


def enforce_page_limit(policy: str, user_id: object) -> None:
    """Actions of pages that try the API cost as much as API requests. Raises TooManyRequests."""
    enforce_limit(policy, user_id, quota=settings.PRODUCT_PAGE_REQUESTS_PER_MINUTE)


def normalize_mailbox(email: str) -> str:
    """The same for all spellings that the database finds: its `lower` takes İ for i, which Python folds otherwise.

    And for all tags of a mailbox: `ann+shop@x.example` reaches `ann@x.example` with most providers.
    """
    name, separator, domain = email.replace("\u0130", "i").casefold().rpartition("@")
    return digest((name.partition("+")[0] or name) + separator + domain)[:40]


def _first_over(*limits: tuple[str, int], window: int = QUARTER_OF_AN_HOUR) -> RateLimitStatus | None:
    for bucket, quota in limits:
        if not bucket:
            continue
        limit_status = cached_rejection(bucket) or count_request(
            policy=bucket.partition(":")[0], bucket=bucket, quota=quota, window=window
        )
        if limit_status.is_exceeded:
            return limit_status
    return None


def _name_bucket(name: str) -> str:
    """The same for every spelling of a name, with and without the default domain."""
    spelled = "@".join(split_sign_in_name(name))
    # Hashed, because users sometimes type their password into the name field.
    return f"sign-in-name:{digest(spelled)[:40]}"


def _account_bucket(account: str) -> str:
    return f"sign-in-account:{digest(account)[:40]}"


def _device_bucket(device: str) -> str:
    return f"sign-in-device:{digest(device)[:40]}" if device else ""


def _second_step_bucket(account: str) -> str:
    return f"second-step:{account}"


def _address_bucket(policy: str, address: str) -> str:
    return f"{policy}:{rate_limit_key_for_ip(address)}" if address else ""
