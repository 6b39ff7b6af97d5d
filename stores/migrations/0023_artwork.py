from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0022_preset_keeps_overprint'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='asset',
            name='pages',
            field=models.JSONField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='orderitem',
            name='artwork',
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
        migrations.AlterField(
            model_name='asset',
            name='format',
            field=models.CharField(choices=[('png', 'PNG'), ('jpg', 'JPEG'), ('pdf', 'PDF')], max_length=3),
        ),
    ]
