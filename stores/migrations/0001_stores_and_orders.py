import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


OUTLINE = """
CREATE OR REPLACE FUNCTION fulfillment_template_outline(template jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    outline jsonb := template;
BEGIN
    IF jsonb_typeof(template) = 'object' THEN
        -- Taken apart once: a template is megabytes that the database keeps packed.
        SELECT coalesce(jsonb_object_agg(part.key, CASE
            WHEN part.key IN ('Artwork', 'Gallery') AND jsonb_typeof(part.value) = 'object' THEN (
                SELECT coalesce(jsonb_object_agg(
                    picture.key,
                    encode(sha256(convert_to(coalesce(picture.value ->> 'Data', picture.value::text), 'UTF8')), 'hex')
                ), '{}') FROM jsonb_each(part.value) AS picture
            ) ELSE part.value END), '{}')
        INTO outline FROM jsonb_each(template) AS part;
    END IF;
    IF length(outline::text) > 100000 AND jsonb_typeof(outline -> 'Pages') = 'array' THEN
        outline := jsonb_set(outline, '{Pages}', (
            SELECT coalesce(jsonb_agg(
                CASE WHEN jsonb_typeof(page -> 'Boxes') = 'array'
                    THEN jsonb_set(page, '{Boxes}', to_jsonb(jsonb_array_length(page -> 'Boxes'))) ELSE page END
                ORDER BY number
            ), '[]') FROM jsonb_array_elements(outline -> 'Pages') WITH ORDINALITY AS pages (page, number)
        ));
    END IF;
    RETURN outline;
END $$
"""



class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('applications', '0002_keys_and_webhooks'),
        ('pghistory', '0007_auto_20250421_0444'),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='Store',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('external_id', models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')], verbose_name='store ID')),
                    ('company_name', models.CharField(max_length=200)),
                    ('description', models.TextField(blank=True, max_length=4000)),
                    ('currency', models.CharField(default='USD', max_length=3)),
                    ('time_zone', models.CharField(default='UTC', max_length=64)),
                    ('is_demo', models.BooleanField(default=False, verbose_name='demo store')),
                    ('budget_enabled', models.BooleanField(default=False)),
                    ('budget_types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Amount', 'Amount spent'), ('Orders', 'Number of orders'), ('Quantity', 'Quantity ordered')], max_length=10), blank=True, default=list, size=None)),
                    ('budget_durations', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Weekly', 'Every week'), ('Monthly', 'Every month'), ('Quarterly', 'Every quarter'), ('Yearly', 'Every year')], max_length=10), blank=True, default=list, size=None)),
                    ('hold_window_minutes', models.PositiveIntegerField(default=60)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('catalog_version', models.BigIntegerField(default=0, editable=False)),
                    ('product_count', models.PositiveIntegerField(default=0, editable=False)),
                    ('rendering', models.TextField(default='', editable=False)),
                    ('verbose_rendering', models.TextField(default='', editable=False)),
                ],
                options={
                    'ordering': ['company_name'],
                    'constraints': [models.UniqueConstraint(models.F('is_demo'), condition=models.Q(('is_demo', True)), name='store_one_demo'), models.CheckConstraint(condition=models.Q(('external_id__regex', '^[A-Za-z0-9._-]{1,64}\\Z')), name='store_id_form'), models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}\\Z')), name='store_currency_form')],
                },
            ),
            migrations.CreateModel(
                name='StoreEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('external_id', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')], verbose_name='store ID')),
                    ('company_name', models.CharField(max_length=200)),
                    ('description', models.TextField(blank=True, max_length=4000)),
                    ('currency', models.CharField(default='USD', max_length=3)),
                    ('time_zone', models.CharField(default='UTC', max_length=64)),
                    ('is_demo', models.BooleanField(default=False, verbose_name='demo store')),
                    ('budget_enabled', models.BooleanField(default=False)),
                    ('budget_types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Amount', 'Amount spent'), ('Orders', 'Number of orders'), ('Quantity', 'Quantity ordered')], max_length=10), blank=True, default=list, size=None)),
                    ('budget_durations', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Weekly', 'Every week'), ('Monthly', 'Every month'), ('Quarterly', 'Every quarter'), ('Yearly', 'Every year')], max_length=10), blank=True, default=list, size=None)),
                    ('hold_window_minutes', models.PositiveIntegerField(default=60)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.store')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Product',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('external_id', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')], verbose_name='product ID')),
                    ('api_key', models.CharField(max_length=64, verbose_name='API key')),
                    ('position', models.PositiveIntegerField(default=0)),
                    ('name', models.CharField(max_length=200)),
                    ('description', models.TextField(blank=True, max_length=4000)),
                    ('category', models.CharField(blank=True, max_length=100)),
                    ('image_url', models.CharField(blank=True, max_length=2000, verbose_name='image URL')),
                    ('default_quantity', models.PositiveIntegerField()),
                    ('minimum_quantity', models.PositiveIntegerField()),
                    ('maximum_quantity', models.PositiveIntegerField()),
                    ('quantity_increment', models.PositiveIntegerField()),
                    ('delivery_method', models.CharField(max_length=40)),
                    ('page_count', models.PositiveSmallIntegerField(default=1)),
                    ('width_mm', models.DecimalField(decimal_places=3, max_digits=9, verbose_name='width (mm)')),
                    ('height_mm', models.DecimalField(decimal_places=3, max_digits=9, verbose_name='height (mm)')),
                    ('is_active', models.BooleanField(default=True, verbose_name='active')),
                    ('template', models.JSONField(blank=True, null=True)),
                    ('version', models.PositiveIntegerField(default=1, editable=False)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('rendering', models.TextField(default='', editable=False)),
                    ('verbose_rendering', models.TextField(default='', editable=False)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='products', to='stores.store')),
                ],
                options={
                    'ordering': ['store', 'position', 'id'],
                    'indexes': [models.Index(models.F('store'), models.F('position'), models.F('id'), condition=models.Q(('is_active', True)), name='product_catalog_order')],
                    'constraints': [models.UniqueConstraint(models.F('store'), models.F('external_id'), name='product_id_unique_in_store'), models.CheckConstraint(condition=models.Q(('external_id__regex', '^[A-Za-z0-9._-]{1,64}\\Z')), name='product_id_form'), models.CheckConstraint(condition=models.Q(('minimum_quantity__gte', 1), ('default_quantity__gte', models.F('minimum_quantity')), ('maximum_quantity__gte', models.F('default_quantity'))), name='product_quantities_ordered'), models.CheckConstraint(condition=models.Q(('quantity_increment__gte', 1)), name='product_increment_positive'), models.CheckConstraint(condition=models.Q(('height_mm__gt', 0), ('page_count__gte', 1), ('width_mm__gt', 0)), name='product_has_size')],
                },
            ),
            migrations.CreateModel(
                name='TemplateChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('timestamp', models.DateTimeField()),
                    ('before', models.JSONField(null=True)),
                    ('after', models.JSONField(null=True)),
                    ('context', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('product', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='stores.product')),
                ],
                options={
                    'indexes': [models.Index(models.F('product'), models.F('version'), name='template_change_of_product')],
                },
            ),
            migrations.CreateModel(
                name='ProductEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('external_id', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')], verbose_name='product ID')),
                    ('api_key', models.CharField(max_length=64, verbose_name='API key')),
                    ('position', models.PositiveIntegerField(default=0)),
                    ('name', models.CharField(max_length=200)),
                    ('description', models.TextField(blank=True, max_length=4000)),
                    ('category', models.CharField(blank=True, max_length=100)),
                    ('image_url', models.CharField(blank=True, max_length=2000, verbose_name='image URL')),
                    ('default_quantity', models.PositiveIntegerField()),
                    ('minimum_quantity', models.PositiveIntegerField()),
                    ('maximum_quantity', models.PositiveIntegerField()),
                    ('quantity_increment', models.PositiveIntegerField()),
                    ('delivery_method', models.CharField(max_length=40)),
                    ('page_count', models.PositiveSmallIntegerField(default=1)),
                    ('width_mm', models.DecimalField(decimal_places=3, max_digits=9, verbose_name='width (mm)')),
                    ('height_mm', models.DecimalField(decimal_places=3, max_digits=9, verbose_name='height (mm)')),
                    ('is_active', models.BooleanField(default=True, verbose_name='active')),
                    ('version', models.PositiveIntegerField(default=1, editable=False)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('rendering', models.TextField(default='', editable=False)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.product')),
                    ('store', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.store')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='TemplateField',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveSmallIntegerField()),
                    ('field_name', models.CharField(max_length=64)),
                    ('prompt', models.CharField(max_length=200)),
                    ('type', models.CharField(choices=[('Text', 'Text'), ('Image', 'Image'), ('Choice', 'Choice')], max_length=10)),
                    ('sub_type', models.CharField(choices=[('SingleLine', 'Single Line'), ('MultiLine', 'Multi Line'), ('Email', 'Email'), ('Phone', 'Phone'), ('Url', 'Url'), ('Date', 'Date'), ('Upload', 'Upload'), ('Gallery', 'Gallery'), ('List', 'List')], max_length=10)),
                    ('required', models.BooleanField(default=False)),
                    ('default_value', models.TextField(blank=True, max_length=4000)),
                    ('org_value', models.TextField(blank=True, max_length=4000)),
                    ('choices', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                    ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='template_fields', to='stores.product')),
                ],
                options={
                    'ordering': ['position'],
                    'constraints': [models.UniqueConstraint(models.F('product'), models.F('field_name'), name='template_field_name_unique'), models.UniqueConstraint(models.F('product'), models.F('position'), name='template_field_position_unique'), models.CheckConstraint(condition=models.Q(models.Q(('sub_type__in', ('SingleLine', 'MultiLine', 'Email', 'Phone', 'Url', 'Date')), ('type', 'Text')), models.Q(('sub_type__in', ('Upload', 'Gallery')), ('type', 'Image')), models.Q(('sub_type__in', ('List',)), ('type', 'Choice')), _connector='OR'), name='template_field_type_known')],
                },
            ),
            migrations.CreateModel(
                name='DeliveredPrice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveSmallIntegerField()),
                    ('delivery_method_code', models.CharField(max_length=40)),
                    ('description', models.CharField(blank=True, max_length=200)),
                    ('price', models.DecimalField(decimal_places=2, max_digits=12)),
                    ('country', models.CharField(max_length=100)),
                    ('country_code', models.CharField(max_length=2)),
                    ('location_type', models.CharField(choices=[('Commercial', 'Commercial'), ('Residential', 'Residential')], max_length=11)),
                    ('is_default', models.BooleanField(default=False, verbose_name='default')),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='delivered_prices', to='stores.product')),
                ],
                options={
                    'ordering': ['position'],
                    'constraints': [models.UniqueConstraint(models.F('product'), models.F('delivery_method_code'), models.F('country_code'), models.F('location_type'), name='delivered_price_unique'), models.UniqueConstraint(models.F('product'), models.F('position'), name='delivered_price_position_unique'), models.UniqueConstraint(models.F('product'), condition=models.Q(('is_default', True)), name='delivered_price_one_default'), models.CheckConstraint(condition=models.Q(('price__gt', 0)), name='delivered_price_positive'), models.CheckConstraint(condition=models.Q(('country_code__regex', '^[A-Z]{2}\\Z')), name='delivered_price_country_form')],
                },
            ),
            migrations.CreateModel(
                name='ProductionSpeed',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveSmallIntegerField()),
                    ('days', models.PositiveSmallIntegerField()),
                    ('is_default', models.BooleanField(default=False, verbose_name='default')),
                    ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='production_speeds', to='stores.product')),
                ],
                options={
                    'ordering': ['position'],
                    'constraints': [models.UniqueConstraint(models.F('product'), models.F('days'), name='production_speed_unique'), models.UniqueConstraint(models.F('product'), models.F('position'), name='production_speed_position_unique'), models.UniqueConstraint(models.F('product'), condition=models.Q(('is_default', True)), name='production_speed_one_default')],
                },
            ),
            migrations.CreateModel(
                name='CatalogUpload',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('waiting', 'Waiting to be checked'), ('checking', 'Being checked'), ('refused', 'Has errors'), ('checked', 'Checked'), ('queued', 'Waiting to be imported'), ('importing', 'Being imported'), ('imported', 'Imported'), ('failed', 'Failed')], default='waiting', max_length=10)),
                    ('upload', models.FileField(blank=True, upload_to='catalog/uploads')),
                    ('file_name', models.CharField(max_length=255)),
                    ('size', models.PositiveBigIntegerField(verbose_name='bytes')),
                    ('percent', models.PositiveSmallIntegerField(default=0)),
                    ('summary', models.JSONField(default=dict)),
                    ('faults', models.JSONField(default=list)),
                    ('fault_count', models.PositiveIntegerField(default=0, verbose_name='errors')),
                    ('error', models.TextField(blank=True)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='uploaded')),
                    ('updated', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('finished', models.DateTimeField(blank=True, null=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='uploaded by')),
                    ('imported_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='catalog_uploads', to='stores.store', verbose_name='only store')),
                ],
                options={
                    'verbose_name': 'catalog import',
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='ArtworkUpload',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('media_type', models.CharField(max_length=40)),
                    ('sha256', models.CharField(max_length=64)),
                    ('content', models.BinaryField()),
                    ('created', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                    ('product', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='artwork_uploads', to='stores.product')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created'],
                    'constraints': [models.UniqueConstraint(models.F('product'), models.F('sha256'), name='artwork_upload_once')],
                },
            ),
            migrations.CreateModel(
                name='Quote',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('country_code', models.CharField(max_length=2)),
                    ('location_type', models.CharField(blank=True, max_length=11)),
                    ('created', models.DateTimeField()),
                    ('expires', models.DateTimeField()),
                    ('rendering', models.TextField()),
                    ('application', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='quotes', to='stores.store')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(models.F('expires'), name='quote_expiry')],
                },
            ),
            migrations.CreateModel(
                name='Order',
                fields=[
                    ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                    ('number', models.BigIntegerField(editable=False, unique=True, verbose_name='order number')),
                    ('position', models.PositiveIntegerField(editable=False)),
                    ('external_id', models.CharField(blank=True, max_length=100, null=True, verbose_name='external ID')),
                    ('status', models.PositiveSmallIntegerField(choices=[(10, 'Received'), (20, 'OnHold'), (30, 'Accepted'), (40, 'InProduction'), (50, 'PartiallyShipped'), (60, 'Shipped'), (70, 'Delivered'), (80, 'Returned'), (90, 'Cancelled'), (95, 'Rejected')], default=10)),
                    ('sequence', models.PositiveIntegerField(default=1, editable=False)),
                    ('created', models.DateTimeField(editable=False)),
                    ('updated', models.DateTimeField(editable=False)),
                    ('currency', models.CharField(max_length=3)),
                    ('items_total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('delivery_total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('delivery_method_code', models.CharField(max_length=40)),
                    ('production_days', models.PositiveSmallIntegerField()),
                    ('earliest_delivery', models.DateField()),
                    ('latest_delivery', models.DateField()),
                    ('option_id', models.CharField(blank=True, max_length=60)),
                    ('recipient', models.JSONField()),
                    ('product_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), size=None)),
                    ('item_count', models.PositiveIntegerField()),
                    ('total_quantity', models.PositiveBigIntegerField()),
                    ('tracking_numbers', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('cancellable_until', models.DateTimeField()),
                    ('cancellation', models.CharField(blank=True, choices=[('', 'Not requested'), ('Requested', 'Requested'), ('Accepted', 'Accepted'), ('Refused', 'Refused')], default='', max_length=9)),
                    ('cancellation_asked', models.DateTimeField(blank=True, null=True)),
                    ('cancellation_reason', models.TextField(blank=True, max_length=1000)),
                    ('cancellation_note', models.TextField(blank=True, max_length=1000)),
                    ('rendering', models.TextField(editable=False)),
                    ('application', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('reprint_of', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reprints', to='stores.order')),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to=settings.AUTH_USER_MODEL)),
                    ('quote', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='orders', to='stores.quote')),
                    ('recipient_erased', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('external_id_user', models.UUIDField(editable=False, null=True)),
                ],
                options={
                    'ordering': ['store', 'position'],
                    'indexes': [models.Index(models.F('store'), models.F('created'), models.F('position'), name='order_by_date'), models.Index(models.F('store'), models.F('status'), models.F('position'), name='order_by_status'), models.Index(models.F('store'), models.F('application'), models.F('position'), include=('status',), name='order_by_application'), models.Index(models.F('store'), models.F('user'), models.F('position'), condition=models.Q(('user__isnull', False)), include=('status', 'application'), name='order_by_user'), models.Index(models.F('quote'), condition=models.Q(('quote__isnull', False)), name='order_by_quote'), models.Index(models.F('status'), models.F('number'), name='order_board_by_status'), models.Index(models.F('external_id'), condition=models.Q(('external_id__isnull', False)), name='order_board_by_external_id'), django.contrib.postgres.indexes.BrinIndex(models.F('created'), name='order_board_by_date', pages_per_range=32), models.Index(models.F('updated'), condition=models.Q(('recipient_erased__isnull', True), ('status__in', [60, 70, 80, 90, 95])), name='order_with_old_address'), models.Index(models.F('store'), models.F('cancellation_asked'), condition=models.Q(('cancellation', 'Requested')), name='order_cancellations_asked')],
                    'constraints': [models.UniqueConstraint(models.F('store'), models.F('position'), name='order_position_unique'), models.UniqueConstraint(models.F('store'), models.F('application'), models.F('external_id_user'), models.F('external_id'), condition=models.Q(('external_id__isnull', False)), name='order_external_id_unique', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('status__in', [10, 20, 30, 40, 50, 60, 70, 80, 90, 95])), name='order_status_known'), models.CheckConstraint(condition=models.Q(('total', django.db.models.expressions.CombinedExpression(models.F('items_total'), '+', models.F('delivery_total')))), name='order_total_adds_up')],
                },
            ),
            migrations.CreateModel(
                name='OrderEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.UUIDField(editable=False, serialize=False)),
                    ('number', models.BigIntegerField(editable=False, verbose_name='order number')),
                    ('position', models.PositiveIntegerField(editable=False)),
                    ('external_id', models.CharField(blank=True, max_length=100, null=True, verbose_name='external ID')),
                    ('status', models.PositiveSmallIntegerField(choices=[(10, 'Received'), (20, 'OnHold'), (30, 'Accepted'), (40, 'InProduction'), (50, 'PartiallyShipped'), (60, 'Shipped'), (70, 'Delivered'), (80, 'Returned'), (90, 'Cancelled'), (95, 'Rejected')], default=10)),
                    ('sequence', models.PositiveIntegerField(default=1, editable=False)),
                    ('created', models.DateTimeField(editable=False)),
                    ('updated', models.DateTimeField(editable=False)),
                    ('currency', models.CharField(max_length=3)),
                    ('items_total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('delivery_total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('delivery_method_code', models.CharField(max_length=40)),
                    ('production_days', models.PositiveSmallIntegerField()),
                    ('earliest_delivery', models.DateField()),
                    ('latest_delivery', models.DateField()),
                    ('option_id', models.CharField(blank=True, max_length=60)),
                    ('recipient_erased', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('product_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), size=None)),
                    ('item_count', models.PositiveIntegerField()),
                    ('total_quantity', models.PositiveBigIntegerField()),
                    ('tracking_numbers', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                    ('cancellable_until', models.DateTimeField()),
                    ('cancellation', models.CharField(blank=True, choices=[('', 'Not requested'), ('Requested', 'Requested'), ('Accepted', 'Accepted'), ('Refused', 'Refused')], default='', max_length=9)),
                    ('cancellation_asked', models.DateTimeField(blank=True, null=True)),
                    ('application', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.order')),
                    ('quote', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.quote')),
                    ('reprint_of', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.order')),
                    ('store', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='OrderItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('order_position', models.PositiveIntegerField(editable=False)),
                    ('item_key', models.CharField(max_length=64)),
                    ('product_external_id', models.CharField(max_length=64, verbose_name='product ID')),
                    ('product_name', models.CharField(max_length=200)),
                    ('product_version', models.PositiveIntegerField()),
                    ('quantity', models.PositiveIntegerField()),
                    ('unit_price', models.DecimalField(decimal_places=2, max_digits=12)),
                    ('line_total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('template_data', models.JSONField(blank=True, null=True)),
                    ('print_file', models.CharField(blank=True, editable=False, max_length=200)),
                    ('print_sha256', models.CharField(blank=True, editable=False, max_length=64, verbose_name='SHA-256 of the print file')),
                    ('print_bytes', models.PositiveIntegerField(default=0, editable=False)),
                    ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='stores.order')),
                    ('product', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='order_items', to='stores.product')),
                ],
                options={
                    'ordering': ['order', 'position'],
                    'indexes': [models.Index(models.F('product'), models.F('order_position'), name='order_item_by_product')],
                    'constraints': [models.UniqueConstraint(models.F('order'), models.F('position'), name='order_item_position_unique'), models.UniqueConstraint(models.F('order'), models.F('item_key'), name='order_item_key_unique'), models.CheckConstraint(condition=models.Q(('line_total', django.db.models.expressions.CombinedExpression(models.F('quantity'), '*', models.F('unit_price')))), name='order_item_total_adds_up')],
                },
            ),
            migrations.CreateModel(
                name='OrderItemEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('position', models.PositiveIntegerField()),
                    ('order_position', models.PositiveIntegerField(editable=False)),
                    ('item_key', models.CharField(max_length=64)),
                    ('product_external_id', models.CharField(max_length=64, verbose_name='product ID')),
                    ('product_name', models.CharField(max_length=200)),
                    ('product_version', models.PositiveIntegerField()),
                    ('quantity', models.PositiveIntegerField()),
                    ('unit_price', models.DecimalField(decimal_places=2, max_digits=12)),
                    ('line_total', models.DecimalField(decimal_places=2, max_digits=14)),
                    ('print_file', models.CharField(blank=True, editable=False, max_length=200)),
                    ('print_sha256', models.CharField(blank=True, editable=False, max_length=64, verbose_name='SHA-256 of the print file')),
                    ('print_bytes', models.PositiveIntegerField(default=0, editable=False)),
                    ('order', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.order')),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.orderitem')),
                    ('product', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.product')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Shipment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('carrier', models.CharField(max_length=60)),
                    ('tracking_number', models.CharField(max_length=100)),
                    ('tracking_url', models.CharField(blank=True, max_length=1000)),
                    ('item_keys', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None)),
                    ('shipped', models.DateTimeField()),
                    ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='shipments', to='stores.order')),
                ],
                options={
                    'ordering': ['order', 'id'],
                    'indexes': [models.Index(models.F('tracking_number'), name='shipment_by_tracking_number')],
                    'constraints': [models.UniqueConstraint(models.F('order'), models.F('carrier'), models.F('tracking_number'), name='shipment_unique')],
                },
            ),
            migrations.CreateModel(
                name='ShipmentEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('carrier', models.CharField(max_length=60)),
                    ('tracking_number', models.CharField(max_length=100)),
                    ('item_keys', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None)),
                    ('shipped', models.DateTimeField()),
                    ('order', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.order')),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.shipment')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='OrderHistory',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sequence', models.PositiveIntegerField()),
                    ('previous_status', models.PositiveSmallIntegerField(choices=[(10, 'Received'), (20, 'OnHold'), (30, 'Accepted'), (40, 'InProduction'), (50, 'PartiallyShipped'), (60, 'Shipped'), (70, 'Delivered'), (80, 'Returned'), (90, 'Cancelled'), (95, 'Rejected')], null=True)),
                    ('status', models.PositiveSmallIntegerField(choices=[(10, 'Received'), (20, 'OnHold'), (30, 'Accepted'), (40, 'InProduction'), (50, 'PartiallyShipped'), (60, 'Shipped'), (70, 'Delivered'), (80, 'Returned'), (90, 'Cancelled'), (95, 'Rejected')])),
                    ('timestamp', models.DateTimeField()),
                    ('actor_kind', models.CharField(choices=[('Application', 'Application'), ('User', 'User'), ('Store', 'Store'), ('Operator', 'Operator'), ('System', 'System')], max_length=11)),
                    ('note', models.TextField(blank=True, max_length=1000)),
                    ('actor', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='history', to='stores.order')),
                ],
                options={
                    'verbose_name_plural': 'order history',
                    'ordering': ['order', 'sequence'],
                    'constraints': [models.UniqueConstraint(models.F('order'), models.F('sequence'), name='order_history_sequence_unique')],
                },
            ),
            migrations.CreateModel(
                name='OrderTally',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('status', models.PositiveSmallIntegerField(choices=[(10, 'Received'), (20, 'OnHold'), (30, 'Accepted'), (40, 'InProduction'), (50, 'PartiallyShipped'), (60, 'Shipped'), (70, 'Delivered'), (80, 'Returned'), (90, 'Cancelled'), (95, 'Rejected')])),
                    ('orders', models.PositiveIntegerField()),
                    ('application', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='stores.store')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(models.F('store'), models.F('application'), models.F('status'), name='order_tally_unique', nulls_distinct=False)],
                },
            ),
            migrations.CreateModel(
                name='Asset',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('format', models.CharField(choices=[('png', 'PNG'), ('jpg', 'JPEG')], max_length=3)),
                    ('sha256', models.CharField(max_length=64)),
                    ('size', models.PositiveIntegerField()),
                    ('width', models.PositiveIntegerField()),
                    ('height', models.PositiveIntegerField()),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('application', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='assets', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assets', to='stores.store')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='assets', to=settings.AUTH_USER_MODEL)),
                    ('is_ordered', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('last_used', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'ordering': ['-created'],
                    'indexes': [models.Index(models.F('last_used'), condition=models.Q(('is_ordered', False)), name='asset_not_ordered_by_use')],
                },
            ),
            migrations.CreateModel(
                name='Proof',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=40, unique=True)),
                    ('sizes', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveIntegerField(), size=None)),
                    ('messages', models.JSONField(default=list)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('last_used', models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False)),
                    ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proofs', to='stores.product')),
                    ('traces', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=24), editable=False, null=True, size=None)),
                ],
                options={
                    'ordering': ['-created'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{40}\\Z')), name='proof_digest_form')],
                },
            ),
            migrations.CreateModel(
                name='OrderedAsset',
                fields=[
                    ('pk', models.CompositePrimaryKey('order', 'asset', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='stores.asset')),
                    ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='ordered_assets', to='stores.order')),
                ],
                options={
                    'ordering': ['order', 'asset'],
                },
            ),
            migrations.CreateModel(
                name='Font',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('families', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), editable=False, size=None)),
                    ('suffix', models.CharField(editable=False, max_length=4)),
                    ('file_name', models.CharField(editable=False, max_length=200)),
                    ('sha256', models.CharField(editable=False, max_length=64, unique=True)),
                    ('size', models.PositiveIntegerField(editable=False)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='FontEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('families', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), editable=False, size=None)),
                    ('suffix', models.CharField(editable=False, max_length=4)),
                    ('file_name', models.CharField(editable=False, max_length=200)),
                    ('sha256', models.CharField(editable=False, max_length=64)),
                    ('size', models.PositiveIntegerField(editable=False)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.font')),
                ],
                options={
                    'abstract': False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='store',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeevent" ("budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (NEW."budget_durations", NEW."budget_enabled", NEW."budget_types", NEW."company_name", NEW."created", NEW."currency", NEW."description", NEW."external_id", NEW."hold_window_minutes", NEW."id", NEW."is_demo", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."time_zone", NEW."updated"); RETURN NULL;', hash='20cdd8eb466b22444a5fb933b1111c53f390a68b', operation='INSERT', pgid='pgtrigger_insert_insert_d3210', table='stores_store', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='store',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."budget_durations" IS DISTINCT FROM (NEW."budget_durations") OR OLD."budget_enabled" IS DISTINCT FROM (NEW."budget_enabled") OR OLD."budget_types" IS DISTINCT FROM (NEW."budget_types") OR OLD."company_name" IS DISTINCT FROM (NEW."company_name") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."hold_window_minutes" IS DISTINCT FROM (NEW."hold_window_minutes") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_demo" IS DISTINCT FROM (NEW."is_demo") OR OLD."time_zone" IS DISTINCT FROM (NEW."time_zone") OR OLD."updated" IS DISTINCT FROM (NEW."updated"))', func='INSERT INTO "stores_storeevent" ("budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (NEW."budget_durations", NEW."budget_enabled", NEW."budget_types", NEW."company_name", NEW."created", NEW."currency", NEW."description", NEW."external_id", NEW."hold_window_minutes", NEW."id", NEW."is_demo", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."time_zone", NEW."updated"); RETURN NULL;', hash='ba93b6170aae15a3c6c0e6f026367f1ffb1d94c3', operation='UPDATE', pgid='pgtrigger_update_update_33f7b', table='stores_store', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='store',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeevent" ("budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (OLD."budget_durations", OLD."budget_enabled", OLD."budget_types", OLD."company_name", OLD."created", OLD."currency", OLD."description", OLD."external_id", OLD."hold_window_minutes", OLD."id", OLD."is_demo", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."time_zone", OLD."updated"); RETURN NULL;', hash='3ef7505298ba50064503c5faeb623e30acd97be0', operation='DELETE', pgid='pgtrigger_delete_delete_b25a4', table='stores_store', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='storeevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='6dfd97355c810731fb89d6d9d302d5069577d4e5', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_aa36d', table='stores_storeevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='product',
                trigger=pgtrigger.compiler.Trigger(name='template_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.template IS DISTINCT FROM NEW.template)', func='\n        INSERT INTO stores_templatechange (product_id, version, "timestamp", context_id, before, after) VALUES (\n            NEW.id, NEW.version, now(), _pgh_attach_context(),\n            fulfillment_template_outline(OLD.template), fulfillment_template_outline(NEW.template)\n        );\n        RETURN NULL;\n    ', hash='a4ab18890034346312f207d93e1043802e57f896', operation='UPDATE OF "template"', pgid='pgtrigger_template_change_9964e', table='stores_product', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='product',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_productevent" ("api_key", "category", "created", "default_quantity", "delivery_method", "description", "external_id", "height_mm", "id", "image_url", "is_active", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "quantity_increment", "rendering", "store_id", "updated", "version", "width_mm") VALUES (NEW."api_key", NEW."category", NEW."created", NEW."default_quantity", NEW."delivery_method", NEW."description", NEW."external_id", NEW."height_mm", NEW."id", NEW."image_url", NEW."is_active", NEW."maximum_quantity", NEW."minimum_quantity", NEW."name", NEW."page_count", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."position", NEW."quantity_increment", NEW."rendering", NEW."store_id", NEW."updated", NEW."version", NEW."width_mm"); RETURN NULL;', hash='72b3351d7acb14fd9ce3f67615378ad0e2a96d8c', operation='INSERT', pgid='pgtrigger_insert_insert_57d3d', table='stores_product', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='product',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."api_key" IS DISTINCT FROM (NEW."api_key") OR OLD."category" IS DISTINCT FROM (NEW."category") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."default_quantity" IS DISTINCT FROM (NEW."default_quantity") OR OLD."delivery_method" IS DISTINCT FROM (NEW."delivery_method") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."height_mm" IS DISTINCT FROM (NEW."height_mm") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."image_url" IS DISTINCT FROM (NEW."image_url") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."maximum_quantity" IS DISTINCT FROM (NEW."maximum_quantity") OR OLD."minimum_quantity" IS DISTINCT FROM (NEW."minimum_quantity") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."page_count" IS DISTINCT FROM (NEW."page_count") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."quantity_increment" IS DISTINCT FROM (NEW."quantity_increment") OR OLD."rendering" IS DISTINCT FROM (NEW."rendering") OR OLD."store_id" IS DISTINCT FROM (NEW."store_id") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."version" IS DISTINCT FROM (NEW."version") OR OLD."width_mm" IS DISTINCT FROM (NEW."width_mm"))', func='INSERT INTO "stores_productevent" ("api_key", "category", "created", "default_quantity", "delivery_method", "description", "external_id", "height_mm", "id", "image_url", "is_active", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "quantity_increment", "rendering", "store_id", "updated", "version", "width_mm") VALUES (NEW."api_key", NEW."category", NEW."created", NEW."default_quantity", NEW."delivery_method", NEW."description", NEW."external_id", NEW."height_mm", NEW."id", NEW."image_url", NEW."is_active", NEW."maximum_quantity", NEW."minimum_quantity", NEW."name", NEW."page_count", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."position", NEW."quantity_increment", NEW."rendering", NEW."store_id", NEW."updated", NEW."version", NEW."width_mm"); RETURN NULL;', hash='ba60893e2faf772dd01aef91cd71a632253862e0', operation='UPDATE', pgid='pgtrigger_update_update_c60e1', table='stores_product', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='product',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_productevent" ("api_key", "category", "created", "default_quantity", "delivery_method", "description", "external_id", "height_mm", "id", "image_url", "is_active", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "quantity_increment", "rendering", "store_id", "updated", "version", "width_mm") VALUES (OLD."api_key", OLD."category", OLD."created", OLD."default_quantity", OLD."delivery_method", OLD."description", OLD."external_id", OLD."height_mm", OLD."id", OLD."image_url", OLD."is_active", OLD."maximum_quantity", OLD."minimum_quantity", OLD."name", OLD."page_count", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."position", OLD."quantity_increment", OLD."rendering", OLD."store_id", OLD."updated", OLD."version", OLD."width_mm"); RETURN NULL;', hash='2ba239125a742a3da8e047ff5b35b9bc61ff5716', operation='DELETE', pgid='pgtrigger_delete_delete_78324', table='stores_product', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='productevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='bc57a0b2cf5fd487696407d1ca462f13ae0ae842', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_17839', table='stores_productevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='order',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "stores_orderevent" ("application_id", "cancellable_until", "cancellation", "cancellation_asked", "created", "currency", "delivery_method_code", "delivery_total", "earliest_delivery", "external_id", "id", "item_count", "items_total", "latest_delivery", "number", "option_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "product_ids", "production_days", "quote_id", "recipient_erased", "reprint_of_id", "sequence", "status", "store_id", "total", "total_quantity", "tracking_numbers", "updated", "user_id") VALUES (NEW."application_id", NEW."cancellable_until", NEW."cancellation", NEW."cancellation_asked", NEW."created", NEW."currency", NEW."delivery_method_code", NEW."delivery_total", NEW."earliest_delivery", NEW."external_id", NEW."id", NEW."item_count", NEW."items_total", NEW."latest_delivery", NEW."number", NEW."option_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."position", NEW."product_ids", NEW."production_days", NEW."quote_id", NEW."recipient_erased", NEW."reprint_of_id", NEW."sequence", NEW."status", NEW."store_id", NEW."total", NEW."total_quantity", NEW."tracking_numbers", NEW."updated", NEW."user_id"); RETURN NULL;', hash='20117a6c050a2bbf30698f15fee086fe9b702317', operation='UPDATE', pgid='pgtrigger_update_update_b983c', table='stores_order', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='order',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_orderevent" ("application_id", "cancellable_until", "cancellation", "cancellation_asked", "created", "currency", "delivery_method_code", "delivery_total", "earliest_delivery", "external_id", "id", "item_count", "items_total", "latest_delivery", "number", "option_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "product_ids", "production_days", "quote_id", "recipient_erased", "reprint_of_id", "sequence", "status", "store_id", "total", "total_quantity", "tracking_numbers", "updated", "user_id") VALUES (OLD."application_id", OLD."cancellable_until", OLD."cancellation", OLD."cancellation_asked", OLD."created", OLD."currency", OLD."delivery_method_code", OLD."delivery_total", OLD."earliest_delivery", OLD."external_id", OLD."id", OLD."item_count", OLD."items_total", OLD."latest_delivery", OLD."number", OLD."option_id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."position", OLD."product_ids", OLD."production_days", OLD."quote_id", OLD."recipient_erased", OLD."reprint_of_id", OLD."sequence", OLD."status", OLD."store_id", OLD."total", OLD."total_quantity", OLD."tracking_numbers", OLD."updated", OLD."user_id"); RETURN NULL;', hash='61db22192da788b0044274e8a4557b1d04702cd1', operation='DELETE', pgid='pgtrigger_delete_delete_6d870', table='stores_order', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='orderevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='89358b693455be0f08eb43b5965b6a7da2635c68', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_55ee1', table='stores_orderevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='orderitem',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "stores_orderitemevent" ("id", "item_key", "line_total", "order_id", "order_position", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "print_bytes", "print_file", "print_sha256", "product_external_id", "product_id", "product_name", "product_version", "quantity", "unit_price") VALUES (NEW."id", NEW."item_key", NEW."line_total", NEW."order_id", NEW."order_position", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."position", NEW."print_bytes", NEW."print_file", NEW."print_sha256", NEW."product_external_id", NEW."product_id", NEW."product_name", NEW."product_version", NEW."quantity", NEW."unit_price"); RETURN NULL;', hash='29efbbf29d859f925551db3ac7b334f3d5d663fe', operation='UPDATE', pgid='pgtrigger_update_update_26420', table='stores_orderitem', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='orderitem',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_orderitemevent" ("id", "item_key", "line_total", "order_id", "order_position", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "print_bytes", "print_file", "print_sha256", "product_external_id", "product_id", "product_name", "product_version", "quantity", "unit_price") VALUES (OLD."id", OLD."item_key", OLD."line_total", OLD."order_id", OLD."order_position", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."position", OLD."print_bytes", OLD."print_file", OLD."print_sha256", OLD."product_external_id", OLD."product_id", OLD."product_name", OLD."product_version", OLD."quantity", OLD."unit_price"); RETURN NULL;', hash='45c22e7fe922fe8963158b30b177218d31928710', operation='DELETE', pgid='pgtrigger_delete_delete_20b45', table='stores_orderitem', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='orderitemevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='8dcb38a990e4401098bcc81b1b6117547b53f6a7', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_67e3a', table='stores_orderitemevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='shipment',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "stores_shipmentevent" ("carrier", "id", "item_keys", "order_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shipped", "tracking_number") VALUES (NEW."carrier", NEW."id", NEW."item_keys", NEW."order_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."shipped", NEW."tracking_number"); RETURN NULL;', hash='e0504ca6e3aeb897fa9a5d3051eff4bb404bfcc4', operation='UPDATE', pgid='pgtrigger_update_update_b8832', table='stores_shipment', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='shipment',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_shipmentevent" ("carrier", "id", "item_keys", "order_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shipped", "tracking_number") VALUES (OLD."carrier", OLD."id", OLD."item_keys", OLD."order_id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."shipped", OLD."tracking_number"); RETURN NULL;', hash='c8ffa13b761ff91613ec04b1fc9e975988cb0390', operation='DELETE', pgid='pgtrigger_delete_delete_d55b0', table='stores_shipment', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='shipmentevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='4852323296797eec7dfd3b69f454550b9f5312bd', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_7215c', table='stores_shipmentevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='font',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_fontevent" ("created", "families", "file_name", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sha256", "size", "suffix") VALUES (NEW."created", NEW."families", NEW."file_name", NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."sha256", NEW."size", NEW."suffix"); RETURN NULL;', hash='e3c2f0af83ce4dc6f8e87deb8a50f3f96c08cfca', operation='INSERT', pgid='pgtrigger_insert_insert_d03af', table='stores_font', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='font',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "stores_fontevent" ("created", "families", "file_name", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sha256", "size", "suffix") VALUES (NEW."created", NEW."families", NEW."file_name", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."sha256", NEW."size", NEW."suffix"); RETURN NULL;', hash='1ba7a10d6c2c69b18066f18abb047294c351102e', operation='UPDATE', pgid='pgtrigger_update_update_3ee3d', table='stores_font', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='font',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_fontevent" ("created", "families", "file_name", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sha256", "size", "suffix") VALUES (OLD."created", OLD."families", OLD."file_name", OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."sha256", OLD."size", OLD."suffix"); RETURN NULL;', hash='529722fb98641ccd70232218b2205503f1fbab05', operation='DELETE', pgid='pgtrigger_delete_delete_3b89c', table='stores_font', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='fontevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='e0cd0e707ce33160eea59fb76df2809e053e2d8c', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_12480', table='stores_fontevent', when='BEFORE')),
            ),
        ]),
        migrations.RunSQL(
            "CREATE SEQUENCE stores_order_number START WITH 10000001", "DROP SEQUENCE stores_order_number"
        ),
        migrations.RunSQL(OUTLINE, "DROP FUNCTION fulfillment_template_outline"),
    ]
