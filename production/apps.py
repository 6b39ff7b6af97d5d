from django.utils.translation import gettext_lazy

from fulfillment.core import plugins


class ProductionConfig(plugins.ServiceApp):
    name = "production"
    verbose_name = gettext_lazy("Production")
