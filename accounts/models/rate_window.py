from django.db import models


class RateWindow(models.Model):
    """The number of requests in the present window of a bucket; `accounts.rate_limits` counts them.

    The table is not logged: it is written with every request, and after a crash of PostgreSQL it starts empty.
    """

    bucket = models.CharField(primary_key=True, max_length=100)
    started = models.DateTimeField()
    used = models.IntegerField()

    def __str__(self) -> str:
        return self.bucket
