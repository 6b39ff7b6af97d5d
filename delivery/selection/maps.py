"""What pages with a map share: street tiles from the server of the setting, and the policy that lets them in."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpResponse

SELF = "img-src 'self' data:"


def tiles_context() -> dict[str, Any]:
    return {"map_tiles": settings.EDDM_TILES_URL, "map_credit": settings.EDDM_TILES_CREDIT}


def with_tiles(response: HttpResponse, policy: str) -> HttpResponse:
    """Pictures of the map come from the tile server of the setting, and from nowhere else."""
    if settings.EDDM_TILES_URL:
        parts = urlsplit(settings.EDDM_TILES_URL.replace("{s}.", "*."))
        server = f"{parts.scheme}://{parts.netloc}"
        response["Content-Security-Policy"] = policy.replace(SELF, f"{SELF} {server}")
    return response
