from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from stores.catalog.models.product import Product


class Proof(models.Model):
    """A stored rendering. Its row is written after its files and deleted before them.

    `digest` identifies everything the rendering depends on; `sizes` are the bytes of the PDF and of each page;
    `traces` find the proof when a person is erased (stores.proofs.services.traces).
    """

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="proofs")
    digest = models.CharField(max_length=40, unique=True)
    sizes = ArrayField(models.PositiveIntegerField())
    messages = models.JSONField(default=list)
    traces = ArrayField(models.CharField(max_length=24), null=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    last_used = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(digest__regex=r"^[0-9a-f]{40}\Z"), name="proof_digest_form"
            )
        ]
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.digest

    @property
    def page_count(self) -> int:
        return len(self.sizes) - 1
