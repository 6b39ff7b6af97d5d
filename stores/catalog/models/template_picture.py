import pgtrigger
from django.db import models
from django.utils import timezone

PICTURES_TRIGGER = pgtrigger.Trigger(
    name="template_pictures",
    when=pgtrigger.After,
    operation=pgtrigger.UpdateOf("template"),
    condition=pgtrigger.Condition("OLD.template IS DISTINCT FROM NEW.template"),
    func="""
        INSERT INTO stores_templatepicture (product_id, sha256, media_type, data, created)
        SELECT DISTINCT ON (gone.entry ->> 'Data') OLD.id,
            encode(sha256(convert_to(gone.entry ->> 'Data', 'UTF8')), 'hex'),
            left(gone.entry ->> 'MediaType', 40), gone.entry ->> 'Data', now()
        FROM (
            (SELECT jsonb_path_query(OLD.template, '$.Artwork.*') AS entry
                UNION SELECT jsonb_path_query(OLD.template, '$.Gallery.*'))
            EXCEPT
            (SELECT jsonb_path_query(NEW.template, '$.Artwork.*')
                UNION SELECT jsonb_path_query(NEW.template, '$.Gallery.*'))
        ) AS gone
        WHERE gone.entry ->> 'Data' IS NOT NULL AND gone.entry ->> 'MediaType' IS NOT NULL
        ON CONFLICT (product_id, sha256) DO UPDATE SET created = excluded.created;
        RETURN NULL;
    """,
)


class TemplatePicture(models.Model):
    """A picture of an earlier template, kept by a trigger when it left, so that the version can be restored.

    `sha256` is of `data`, the picture as the template had it: what `TemplateChange` has in place of the picture.
    """

    product = models.ForeignKey(
        "stores.Product", on_delete=models.CASCADE, related_name="earlier_pictures", db_index=False
    )
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=40)
    data = models.TextField()
    created = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint("product", "sha256", name="template_picture_once")]

    def __str__(self) -> str:
        return f"{self.media_type} {self.sha256[:12]}"
