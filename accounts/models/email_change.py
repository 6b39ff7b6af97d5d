from django.conf import settings
from django.db import models


class EmailChange(models.Model):
    """A new address of a user; it counts once it is confirmed by the link mailed to it.

    `digest` is that of the token in the mail. `password_digest` ties it to the password it was asked with: who
    changes the password in between has ended it.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="email_change"
    )
    email = models.EmailField()
    digest = models.CharField(max_length=64, unique=True)
    password_digest = models.CharField(max_length=64)
    asked = models.DateTimeField()
    expires = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user} to {self.email}"
