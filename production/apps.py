from fulfillment.core import plugins


class ProductionConfig(plugins.ServiceApp):
    name = "production"
    verbose_name = "Production"
