from django.conf import settings
from django.db import models


class IdempotentAnswer(models.Model):
    """The answer to a request that carried an Idempotency-Key, stored to be repeated.

    `key` and `fingerprint` are keyed digests, `body` is encrypted: an answer may hold a secret.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    key = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField()
    body = models.BinaryField()
    created = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "key", "user", "application", nulls_distinct=False, name="idempotent_answer_unique"
            )
        ]
        indexes = [models.Index("created", name="idempotent_answer_age")]

    def __str__(self) -> str:
        return self.key[:12]
