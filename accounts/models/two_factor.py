from django.conf import settings
from django.db import models


class Authenticator(models.Model):
    """The app on a user's phone that makes codes (TOTP, RFC 6238): its secret, and the last step that was used up."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="authenticator"
    )
    ciphertext = models.BinaryField()
    last_step = models.BigIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"Authenticator of {self.user_id}"


class RecoveryCode(models.Model):
    """A code that replaces the second factor once. `digest` is keyed with the authenticator's secret."""

    authenticator = models.ForeignKey(
        Authenticator, on_delete=models.CASCADE, related_name="recovery_codes", db_index=False
    )
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint("authenticator", "digest", name="recovery_code_unique"),
        ]

    def __str__(self) -> str:
        return self.digest[:8]
