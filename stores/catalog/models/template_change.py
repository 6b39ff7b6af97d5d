import pgtrigger
from django.db import models
from pghistory.models import Context

# `fulfillment_template_outline` is created by the migration of this model.
TEMPLATE_TRIGGER = pgtrigger.Trigger(
    name="template_change",
    when=pgtrigger.After,
    operation=pgtrigger.UpdateOf("template"),
    condition=pgtrigger.Condition("OLD.template IS DISTINCT FROM NEW.template"),
    func="""
        INSERT INTO stores_templatechange (product_id, version, "timestamp", context_id, before, after) VALUES (
            NEW.id, NEW.version, now(), _pgh_attach_context(),
            fulfillment_template_outline(OLD.template), fulfillment_template_outline(NEW.template)
        );
        RETURN NULL;
    """,
)


class TemplateChange(models.Model):
    """A change of a product's template. A database trigger writes it, so that no change is missed.

    `before` and `after` are outlines: the template with the SHA-256 of each picture instead of the picture, and where
    pages are longer than 100,000 characters, with the number of their boxes instead of the boxes.
    """

    # No foreign key: the audit trail outlives the product.
    product = models.ForeignKey(
        "stores.Product", on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )
    version = models.PositiveIntegerField()
    timestamp = models.DateTimeField()
    context = models.ForeignKey(
        Context,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        db_index=False,
    )
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        indexes = [models.Index("product", "version", name="template_change_of_product")]

    def __str__(self) -> str:
        return f"Template changed to version {self.version}"
