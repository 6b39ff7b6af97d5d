from django.utils.translation import gettext_lazy

from fulfillment.core import plugins


class ApplicationsConfig(plugins.ServiceApp):
    name = "applications"
    verbose_name = gettext_lazy("Applications")

    def ready(self) -> None:
        from accounts.services.associations import association_decided  # noqa: PLC0415 - models exist from here on
        from applications.registration.services.notices import notify_of_decision  # noqa: PLC0415
        from applications.webhooks.services.events import record_decision_event  # noqa: PLC0415

        association_decided.connect(notify_of_decision, dispatch_uid="applications.decision_notices")
        association_decided.connect(record_decision_event, dispatch_uid="applications.association_events")
