from django.apps import AppConfig
from django.db.models.signals import post_migrate

from fulfillment.core.errors import RendererKilled, RenderersBusy
from fulfillment.core.plugins import service_apps
from printing import bounded, waiting


class FulfillmentConfig(AppConfig):
    name = "fulfillment"
    verbose_name = "Wiring"

    def ready(self) -> None:
        bounded.configure(killed=RendererKilled, busy=RenderersBusy)
        # They need the models, or the settings.
        import fulfillment.core.http.addresses  # noqa: PLC0415
        import fulfillment.operations.deployment_checks  # noqa: F401, PLC0415
        from fulfillment.core.admin.names import name_model  # noqa: PLC0415
        from fulfillment.core.api.document import add_declarations_of_apps  # noqa: PLC0415
        from fulfillment.core.audit.guards import install_append_only_triggers  # noqa: PLC0415
        from fulfillment.core.audit.indexes import build_trail_indexes, event_models  # noqa: PLC0415
        from fulfillment.core.observability.instruments import measure_stage  # noqa: PLC0415

        waiting.configure(observe=measure_stage)
        add_declarations_of_apps()
        for trail in event_models():
            name_model(trail.pgh_tracked_model)
        # Sent for each app when the migrations of all are done; one of them is enough.
        first = service_apps()[0]
        post_migrate.connect(install_append_only_triggers, sender=first)
        post_migrate.connect(build_trail_indexes, sender=first)
