"""The personal data in this app that `export_user_data` exports and `erase_user` erases."""

from accounts.models import User
from fulfillment.core.audit.personal_data import ErasureOptions
from stores.orders.services.personal_data import erase_placed_orders, personal_data

__all__ = ["finish_erasure", "personal_data"]


def finish_erasure(user: User, options: ErasureOptions) -> list[str]:
    if not options.erase_orders:
        return []
    remaining = erase_placed_orders(user=user)
    if not remaining:
        return []
    orders = " ".join(f"--order {number}" for number in remaining)
    return [
        f"{len(remaining)} orders are not shipped yet and keep their recipients; once they are, run: "
        f"manage.py erase_recipient {orders}"
    ]
