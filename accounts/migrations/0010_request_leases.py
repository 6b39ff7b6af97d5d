from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0009_approvals'),
    ]

    operations = [
        migrations.CreateModel(
            name='RequestLease',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('until', models.DateTimeField()),
            ],
        ),
        # Written with every order: nothing to recover after a crash, and no other server waits for it.
        migrations.RunSQL(
            "ALTER TABLE accounts_requestlease SET UNLOGGED; "
            "ALTER TABLE accounts_requestlease SET (autovacuum_vacuum_threshold = 1000)",
            migrations.RunSQL.noop,
        ),
    ]
