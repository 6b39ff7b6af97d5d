from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from stores.catalog.models.product import Product


class Proof(models.Model):
    """A stored rendering. Its row is written after its files and deleted before them.

    `digest` names everything the rendering was made from; `sizes` are the bytes of the PDF and of each page. Test
    applications share no proof with others. By `traces` it is found when a person is to be forgotten
    (stores.proofs.services.traces).
    """

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="proofs")
    digest = models.CharField(max_length=40, unique=True)
    is_test = models.BooleanField(default=False, db_default=False, editable=False)
    sizes = ArrayField(models.PositiveIntegerField())
    messages = models.JSONField(default=list)
    # The findings of preflight as the API shows them; NULL if there are none.
    preflight = models.JSONField(null=True, editable=False)
    traces = ArrayField(models.CharField(max_length=24), null=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    last_used = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(digest__regex=r"^[0-9a-f]{40}\Z"), name="proof_digest_form"
            )
        ]
        indexes = [models.Index("last_used", condition=models.Q(is_test=True), name="proof_of_test_by_use")]
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.digest

    @property
    def page_count(self) -> int:
        return len(self.sizes) - 1
