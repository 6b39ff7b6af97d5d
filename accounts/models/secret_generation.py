from django.db import models


class SecretGeneration(models.Model):
    """When the current first value of a secret came into use.

    `fingerprint` is a keyed digest of a fixed text. Without `since` it was the only value when it was noted.
    """

    setting = models.CharField(max_length=40)
    fingerprint = models.CharField(max_length=64)
    since = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("setting", "fingerprint", name="secret_generation_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.setting} {self.fingerprint[:8]}"
