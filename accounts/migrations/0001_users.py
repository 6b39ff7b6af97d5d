import accounts.names
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Tenant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('domain', models.CharField(max_length=253, validators=[django.core.validators.RegexValidator('^(?=.{1,253}\\Z)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\\Z', 'Write a domain name, such as example.com.')])),
                ('name', models.CharField(max_length=200)),
                ('created', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['domain'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('domain'), name='tenant_domain_unique')],
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('username', models.CharField(max_length=150, validators=[accounts.names.validate_username])),
                ('first_name', models.CharField(blank=True, max_length=150)),
                ('last_name', models.CharField(blank=True, max_length=150)),
                ('email', models.EmailField(max_length=254)),
                ('phone', models.CharField(blank=True, max_length=50)),
                ('is_operator', models.BooleanField(default=False, verbose_name='operator')),
                ('is_active', models.BooleanField(default=True, help_text='An inactive user is refused at once, with every token and session.', verbose_name='active')),
                ('time_zone', models.CharField(default='UTC', max_length=64)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('updated', models.DateTimeField(auto_now=True)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='users', to='accounts.tenant')),
                ('two_factor_since', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='two-step sign-in since')),
                ('prepared_name', models.TextField(editable=False, null=True)),
                ('counted_on', models.ForeignKey(blank=True, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('email_confirmed', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='e-mail confirmed')),
            ],
            options={
                'ordering': ['username'],
                'indexes': [models.Index(models.F('tenant'), django.db.models.functions.text.Lower('email'), name='user_email_lower'), models.Index(django.db.models.functions.text.Lower('email'), condition=models.Q(('email_confirmed__isnull', False)), name='user_confirmed_email_lower'), models.Index(models.F('counted_on'), models.F('created'), condition=models.Q(('counted_on__isnull', False)), name='user_accounts_of_a_day')],
                'constraints': [models.UniqueConstraint(models.F('tenant'), models.F('prepared_name'), name='user_name_unique')],
            },
        ),
    ]
