from fulfillment.core import plugins


class DeliveryConfig(plugins.ServiceApp):
    name = "delivery"
    verbose_name = "Delivery populations"
