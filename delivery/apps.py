from django.utils.translation import gettext_lazy

from fulfillment.core import plugins


class DeliveryConfig(plugins.ServiceApp):
    name = "delivery"
    verbose_name = gettext_lazy("Delivery populations")
