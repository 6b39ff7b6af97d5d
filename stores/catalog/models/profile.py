import pghistory
from django.core.validators import URLValidator
from django.db import models

from stores.catalog.models.store import Store


@pghistory.track(exclude=["logo"])
class StoreProfile(models.Model):
    """A store's entry in the directory, which shows listed stores only. `logo` is a re-encoded PNG."""

    store = models.OneToOneField(Store, primary_key=True, on_delete=models.CASCADE, related_name="profile")
    is_listed = models.BooleanField("listed in the directory", default=False)
    country = models.CharField(max_length=100, blank=True)
    website = models.CharField(max_length=200, blank=True, validators=[URLValidator(["https", "http"])])
    logo = models.BinaryField(null=True, blank=True)
    logo_sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index("store", condition=models.Q(is_listed=True), name="store_profile_listed"),
        ]

    def __str__(self) -> str:
        return f"Profile of {self.store}"
