from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from accounts.demo_sign_ins import refuse_demo_sign_ins
from accounts.models import Tenant
from applications.registration.services.built_in import ensure_api_console
from applications.webhooks.services.events import settle_restored_events
from fulfillment.core.audit.guards import grant_new_tables, grant_use
from stores.catalog.services.refresh import refresh_renderings


class Command(BaseCommand):
    help = "Brings the database up to this release: migrations, built-in records, renderings. Run at each deploy."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DATABASE_ROLE:
            grant_new_tables(settings.DATABASE_ROLE)
        call_command("migrate", interactive=False, verbosity=options["verbosity"])
        Tenant.objects.get_or_create(
            domain=settings.DEFAULT_TENANT_DOMAIN, defaults={"name": settings.DEFAULT_TENANT_DOMAIN}
        )
        refuse_demo_sign_ins()
        ensure_api_console()
        refresh_renderings()
        settle_restored_events()
        if settings.DATABASE_ROLE:
            grant_use(settings.DATABASE_ROLE)
        self.stdout.write("The database is ready for this release.")
