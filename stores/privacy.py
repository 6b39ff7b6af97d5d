"""What `export_user_data` and `erase_user` find of a person in this app."""

from accounts.models import User
from fulfillment.core.audit.personal_data import ErasureOptions
from stores.orders.services.personal_data import erase_placed_orders, personal_data

__all__ = ["finish_erasure", "personal_data"]


def finish_erasure(user: User, options: ErasureOptions) -> list[str]:
    if not options.erase_orders:
        return []
    left = erase_placed_orders(user=user)
    if not left:
        return []
    orders = " ".join(f"--order {number}" for number in left)
    return [
        f"{len(left)} orders are still to be sent and keep their recipients; later run: "
        f"manage.py erase_recipient {orders}"
    ]
