from fulfillment.core import plugins


class StoresConfig(plugins.ServiceApp):
    name = "stores"
    verbose_name = "Stores"
