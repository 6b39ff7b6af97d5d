from django.utils.translation import gettext_lazy

from fulfillment.core import plugins


class ApplicationsConfig(plugins.ServiceApp):
    name = "applications"
    verbose_name = gettext_lazy("Applications")
