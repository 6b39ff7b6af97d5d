"""The client libraries built by `make clients`, for pip and npm."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.urls import reverse

# Where `make clients` puts them in a checkout, or all in one folder.
BUILT = {"python": ("*.whl", "python/dist/*.whl"), "javascript": ("*.tgz", "typescript/*.tgz")}


@dataclass(frozen=True, slots=True)
class Package:
    language: str
    path: Path

    @property
    def url(self) -> str:
        return settings.PUBLIC_URL + reverse("portal:client-package", args=[self.path.name])


def packages() -> dict[str, Package]:
    """The newest package of each language; none before `make clients`."""
    found = {}
    for language, patterns in BUILT.items():
        files = [file for pattern in patterns for file in settings.CLIENT_DOWNLOADS.glob(pattern)]
        if files:
            found[language] = Package(language, max(files, key=lambda file: file.stat().st_mtime))
    return found
