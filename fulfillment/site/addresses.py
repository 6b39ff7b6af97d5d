"""Which addresses are for programs, and which for people in front of a browser."""

API_PREFIX = "/api/"
# The reference: pages below the address of the API.
REFERENCE = "/api/v1/docs"
# Called by programs, or files for whoever holds their address: no session, no cookie, no signed-in user.
# Machine answers are never pages.
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


# Below it the rest of an address is a secret or a signed token.
HIDDEN_BELOW = "/production/"


def logged_path(path: str) -> str:
    """As logs may have it."""
    if not path.startswith(HIDDEN_BELOW):
        return path
    return "/".join(path.split("/")[:3]) + "/…"
