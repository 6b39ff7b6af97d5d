"""Distinguishes URLs for programs from pages for browsers."""

API_PREFIX = "/api/"
# The API reference: pages below the URL of the API.
REFERENCE = "/api/v1/docs"
# For programs, or files at signed URLs: without session, cookie and signed-in user.
# These endpoints never return pages.
PROGRAM_PREFIXES = (
    API_PREFIX,
    "/oauth/token",
    "/oauth/revoke",
    "/.well-known/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/proofs/",
    "/assets/",
    "/production/",
)


def is_api(path: str) -> bool:
    return path.startswith(API_PREFIX) and not path.startswith(REFERENCE)


def is_reference(path: str) -> bool:
    return path == REFERENCE or path.startswith(REFERENCE + "/")


def is_for_programs(path: str) -> bool:
    return path.startswith(PROGRAM_PREFIXES) and not path.startswith(REFERENCE)
