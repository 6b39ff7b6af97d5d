from fulfillment.core import plugins


class AccountsConfig(plugins.ServiceApp):
    name = "accounts"
    verbose_name = "People and permissions"
