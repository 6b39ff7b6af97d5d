from django.conf import settings
from django.db import models


class EmailChange(models.Model):
    """A new address of a user, valid once it is confirmed by the mailed link.

    `digest` is that of the token in the mail. `password_digest` ties the change to the current password: changing the
    password ends it.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="email_change"
    )
    email = models.EmailField()
    digest = models.CharField(max_length=64, unique=True)
    password_digest = models.CharField(max_length=64)
    requested = models.DateTimeField(db_column="asked")
    expires = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user} to {self.email}"
