from django.db import migrations

# For the removal of what has expired; the toolkit itself indexes checksums, owners and token families only.
INDEXES = {
    "oauth_access_token_expires": "oauth2_provider_accesstoken (expires)",
    "oauth_grant_expires": "oauth2_provider_grant (expires)",
    "oauth_refresh_token_revoked": "oauth2_provider_refreshtoken (revoked) WHERE revoked IS NOT NULL",
}


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0001_applications_and_keys"),
        ("oauth2_provider", "0022_refreshtoken_token_family_index"),
    ]

    operations = [
        migrations.RunSQL(f"CREATE INDEX {name} ON {columns}", f"DROP INDEX {name}")
        for name, columns in INDEXES.items()
    ]
