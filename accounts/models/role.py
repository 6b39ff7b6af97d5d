import pghistory
from django.conf import settings
from django.db import models

from accounts.permissions import Grant


@pghistory.track()
class Role(models.Model):
    """One grant of one relationship.

    user + store: a user of the store. user + application: who may manage it.
    application + store: an association. user alone: a grant over everything.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="roles"
    )
    application = models.ForeignKey(
        "applications.Application", null=True, blank=True, on_delete=models.CASCADE, related_name="roles"
    )
    store = models.ForeignKey(
        "stores.Store", null=True, blank=True, on_delete=models.CASCADE, related_name="roles"
    )
    grant = models.CharField(max_length=32, choices=Grant.choices)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "user", "application", "store", "grant", name="role_unique", nulls_distinct=False
            ),
            models.CheckConstraint(condition=models.Q(grant__in=Grant.values), name="role_grant_known"),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False)
                | models.Q(application__isnull=False, store__isnull=False),
                name="role_joins_something",
            ),
        ]
        indexes = [
            models.Index("application", "store", name="role_association"),
            models.Index("store", "user", name="role_store_user"),
        ]

    def __str__(self) -> str:
        return f"{self.grant} for {self.user or self.application}"
