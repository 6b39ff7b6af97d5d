"""The personal data in this app that `export_user_data` exports and `erase_user` erases."""

from accounts.models import User
from fulfillment.core.audit.personal_data import ErasureOptions, PersonalData
from stores.batches.services import personal_data as batches
from stores.budgets.services import personal_data as budgets
from stores.orders.services import personal_data as orders


def personal_data() -> list[PersonalData]:
    return [*orders.personal_data(), *batches.personal_data(), *budgets.personal_data()]


def finish_erasure(user: User, options: ErasureOptions) -> list[str]:
    if not options.erase_orders:
        return []
    remaining = orders.erase_placed_orders(user=user)
    if not remaining:
        return []
    listed = " ".join(f"--order {number}" for number in remaining)
    return [
        f"{len(remaining)} orders are not shipped yet and keep their recipients; once they are, run: "
        f"manage.py erase_recipient {listed}"
    ]
