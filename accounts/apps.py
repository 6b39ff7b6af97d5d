from django.utils.translation import gettext_lazy

from fulfillment.core import plugins


class AccountsConfig(plugins.ServiceApp):
    name = "accounts"
    verbose_name = gettext_lazy("People and permissions")
