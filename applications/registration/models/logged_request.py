from django.conf import settings
from django.db import models

from applications.registration.models.application import Application


class LoggedRequest(models.Model):
    """An API call of an application, written only by the service `request_log`.

    No body of a successful call, no query and no value of a path is kept; `headers` are those of a list. Of a
    refusal `problem` keeps what was wrong and where.
    """

    # Without constraints: the statement that adds rows joins both tables.
    application = models.ForeignKey(
        Application,
        on_delete=models.CASCADE,
        related_name="logged_requests",
        db_index=False,
        db_constraint=False,
    )
    # Used only to erase a user.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    time = models.DateTimeField()
    method = models.CharField(max_length=10)
    path = models.CharField(max_length=200)
    status = models.PositiveSmallIntegerField()
    code = models.CharField(max_length=80)
    pointer = models.CharField(max_length=300)
    microseconds = models.PositiveIntegerField()
    request_id = models.UUIDField()
    headers = models.JSONField()
    problem = models.JSONField(null=True)

    class Meta:
        indexes = [
            models.Index("application", "time", "id", name="request_log"),
            models.Index(
                "application",
                "time",
                "id",
                condition=models.Q(status__gte=400),
                name="request_log_refused",
            ),
            models.Index("request_id", name="request_log_id"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status}"

    @property
    def milliseconds(self) -> float:
        return self.microseconds / 1000
