from django.db import models

from applications.registration.models import Application


class UsedCode(models.Model):
    """A redeemed authorization code. Its reuse ends the tokens issued for it."""

    digest = models.CharField(max_length=64, unique=True)
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="+")
    token_family = models.UUIDField(null=True)
    access_token_checksum = models.CharField(max_length=64)
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"Code used at {self.application}"
