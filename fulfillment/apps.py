from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

from fulfillment.core.errors import RendererKilled
from printing import bounded


class FulfillmentConfig(AppConfig):
    name = "fulfillment"
    verbose_name = "Wiring"

    def ready(self) -> None:
        bounded.configure(killed=RendererKilled)
        # They need the models.
        import fulfillment.operations.deployment_checks  # noqa: F401, PLC0415
        from fulfillment.core.audit.guards import install_append_only_triggers  # noqa: PLC0415
        from fulfillment.core.audit.indexes import build_trail_indexes  # noqa: PLC0415

        # Sent once, when the migrations of all apps are done; apps without models send no signal.
        post_migrate.connect(install_append_only_triggers, sender=apps.get_app_config("accounts"))
        post_migrate.connect(build_trail_indexes, sender=apps.get_app_config("accounts"))
