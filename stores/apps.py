from django.utils.translation import gettext_lazy

from fulfillment.core import plugins


class StoresConfig(plugins.ServiceApp):
    name = "stores"
    verbose_name = gettext_lazy("Stores")
