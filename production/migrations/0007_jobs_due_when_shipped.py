"""Sets the deadline of open jobs to the day they must leave; it was the last day of delivery."""

from typing import Any

from django.db import migrations

from stores.orders.business_days import ship_day

OPEN = ("Queued", "Sent", "Acknowledged", "InProduction", "Failed")


def set_ship_days(apps: Any, schema_editor: Any) -> None:
    jobs = apps.get_model("production", "Job").objects.filter(state__in=OPEN)
    for job in jobs.select_related("order__store", "item").defer("order__rendering", "item__template_data").iterator(500):
        due = ship_day(job.order, is_mailing=job.item.eddm is not None)
        jobs.filter(pk=job.pk).update(due=due)


def set_delivery_days(apps: Any, schema_editor: Any) -> None:
    jobs = apps.get_model("production", "Job").objects.filter(state__in=OPEN)
    for job in jobs.select_related("order").only("order__latest_delivery").iterator(500):
        jobs.filter(pk=job.pk).update(due=job.order.latest_delivery)


class Migration(migrations.Migration):
    dependencies = [("production", "0006_adapter_ledger"), ("stores", "0021_product_print_fields")]

    operations = [migrations.RunPython(set_ship_days, set_delivery_days)]
