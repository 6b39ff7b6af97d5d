import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    """Pictures of earlier templates, kept by a trigger: a version of a template can be restored whole."""

    dependencies = [("stores", "0002_export_updated")]

    operations = [
        migrations.CreateModel(
            name="TemplatePicture",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "product",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="earlier_pictures",
                        to="stores.product",
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("media_type", models.CharField(max_length=40)),
                ("data", models.TextField()),
                ("created", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint("product", "sha256", name="template_picture_once")
                ]
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='product',
            trigger=pgtrigger.compiler.Trigger(name='template_pictures', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.template IS DISTINCT FROM NEW.template)', func="\n        INSERT INTO stores_templatepicture (product_id, sha256, media_type, data, created)\n        SELECT DISTINCT ON (gone.entry ->> 'Data') OLD.id,\n            encode(sha256(convert_to(gone.entry ->> 'Data', 'UTF8')), 'hex'),\n            left(gone.entry ->> 'MediaType', 40), gone.entry ->> 'Data', now()\n        FROM (\n            (SELECT jsonb_path_query(OLD.template, '$.Artwork.*') AS entry\n                UNION SELECT jsonb_path_query(OLD.template, '$.Gallery.*'))\n            EXCEPT\n            (SELECT jsonb_path_query(NEW.template, '$.Artwork.*')\n                UNION SELECT jsonb_path_query(NEW.template, '$.Gallery.*'))\n        ) AS gone\n        WHERE gone.entry ->> 'Data' IS NOT NULL AND gone.entry ->> 'MediaType' IS NOT NULL\n        ON CONFLICT (product_id, sha256) DO UPDATE SET created = excluded.created;\n        RETURN NULL;\n    ", hash='e3f8744fd526a8f6077cc17890d6a8056d556160', operation='UPDATE OF "template"', pgid='pgtrigger_template_pictures_ff894', table='stores_product', when='AFTER')),
        ),
    ]
