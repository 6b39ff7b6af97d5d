"""Applications that operators blocked, which their owners cannot enable."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('applications', '0009_reword_help_texts'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='application',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='application',
            name='update_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='application',
            name='delete_delete',
        ),
        migrations.AddField(
            model_name='application',
            name='is_blocked',
            field=models.BooleanField(db_default=False, default=False, help_text='The application is disabled, and its owners cannot enable it.', verbose_name='blocked'),
        ),
        migrations.AddField(
            model_name='applicationevent',
            name='is_blocked',
            field=models.BooleanField(db_default=False, default=False, help_text='The application is disabled, and its owners cannot enable it.', verbose_name='blocked'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='application',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationevent" ("application_url", "client_id", "client_type", "created", "description", "id", "implicit_flow_allowed", "is_blocked", "is_enabled", "is_first_party", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "redirect_uris", "support_email", "support_phone", "support_url", "updated", "user_id") VALUES (NEW."application_url", NEW."client_id", NEW."client_type", NEW."created", NEW."description", NEW."id", NEW."implicit_flow_allowed", NEW."is_blocked", NEW."is_enabled", NEW."is_first_party", NEW."name", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."redirect_uris", NEW."support_email", NEW."support_phone", NEW."support_url", NEW."updated", NEW."user_id"); RETURN NULL;', hash='9185792620ae61b4dee3b44f38521609f9c6292d', operation='INSERT', pgid='pgtrigger_insert_insert_60e1b', table='applications_application', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='application',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."application_url" IS DISTINCT FROM (NEW."application_url") OR OLD."client_id" IS DISTINCT FROM (NEW."client_id") OR OLD."client_type" IS DISTINCT FROM (NEW."client_type") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."implicit_flow_allowed" IS DISTINCT FROM (NEW."implicit_flow_allowed") OR OLD."is_blocked" IS DISTINCT FROM (NEW."is_blocked") OR OLD."is_enabled" IS DISTINCT FROM (NEW."is_enabled") OR OLD."is_first_party" IS DISTINCT FROM (NEW."is_first_party") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."redirect_uris" IS DISTINCT FROM (NEW."redirect_uris") OR OLD."support_email" IS DISTINCT FROM (NEW."support_email") OR OLD."support_phone" IS DISTINCT FROM (NEW."support_phone") OR OLD."support_url" IS DISTINCT FROM (NEW."support_url") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."user_id" IS DISTINCT FROM (NEW."user_id"))', func='INSERT INTO "applications_applicationevent" ("application_url", "client_id", "client_type", "created", "description", "id", "implicit_flow_allowed", "is_blocked", "is_enabled", "is_first_party", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "redirect_uris", "support_email", "support_phone", "support_url", "updated", "user_id") VALUES (NEW."application_url", NEW."client_id", NEW."client_type", NEW."created", NEW."description", NEW."id", NEW."implicit_flow_allowed", NEW."is_blocked", NEW."is_enabled", NEW."is_first_party", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."redirect_uris", NEW."support_email", NEW."support_phone", NEW."support_url", NEW."updated", NEW."user_id"); RETURN NULL;', hash='965c8af3d019c0676b6a8fa52d022b8169218f52', operation='UPDATE', pgid='pgtrigger_update_update_f714e', table='applications_application', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='application',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationevent" ("application_url", "client_id", "client_type", "created", "description", "id", "implicit_flow_allowed", "is_blocked", "is_enabled", "is_first_party", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "redirect_uris", "support_email", "support_phone", "support_url", "updated", "user_id") VALUES (OLD."application_url", OLD."client_id", OLD."client_type", OLD."created", OLD."description", OLD."id", OLD."implicit_flow_allowed", OLD."is_blocked", OLD."is_enabled", OLD."is_first_party", OLD."name", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."redirect_uris", OLD."support_email", OLD."support_phone", OLD."support_url", OLD."updated", OLD."user_id"); RETURN NULL;', hash='4ea6da5603cb5e2929443ee8656dc45b7458ecb2', operation='DELETE', pgid='pgtrigger_delete_delete_9016e', table='applications_application', when='AFTER')),
        ),
    ]
