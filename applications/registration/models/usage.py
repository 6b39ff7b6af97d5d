from django.db import models

from applications.registration.models.application import Application


class DailyUsage(models.Model):
    """How often an application called the API on a day (UTC). Only the service `usage` writes it."""

    pk = models.CompositePrimaryKey("application_id", "day")
    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="daily_usage", db_index=False
    )
    day = models.DateField()
    calls = models.BigIntegerField()
    client_errors = models.BigIntegerField()
    server_errors = models.BigIntegerField()

    class Meta:
        indexes = [models.Index("day", name="usage_day")]

    def __str__(self) -> str:
        return f"{self.calls} calls on {self.day}"
