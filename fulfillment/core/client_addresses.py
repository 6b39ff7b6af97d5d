import ipaddress
from functools import lru_cache


@lru_cache(maxsize=1024)
def rate_limit_key_for_ip(address: str) -> str:
    """The address or, for IPv6, its /64 network, which belongs to one customer; `unknown` if invalid."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(known, ipaddress.IPv6Address):
        return str(known.ipv4_mapped or ipaddress.ip_network((int(known), 64), strict=False))
    return str(known)
