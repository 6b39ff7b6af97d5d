import pghistory
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from accounts.permissions import APPLICATION_GRANTS, STORE_GRANTS, Grant


@pghistory.track()
class Role(models.Model):
    """A grant. Its subjects are user and store (a user of the store), user and application (who may manage it),
    application and store (an association), or a user alone (a grant over everything).
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
                "user",
                "application",
                "store",
                "grant",
                name="role_unique",
                nulls_distinct=False,
                violation_error_message="This role is given already.",
            ),
            models.CheckConstraint(condition=models.Q(grant__in=Grant.values), name="role_grant_known"),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False)
                | models.Q(application__isnull=False, store__isnull=False),
                name="role_joins_something",
                violation_error_message="A role is a user's, or joins an application with a store.",
            ),
        ]
        indexes = [
            models.Index("application", "store", name="role_association"),
            models.Index("store", "user", name="role_store_user"),
        ]

    def __str__(self) -> str:
        return f"{self.grant} for {self.user or self.application}"

    def clean(self) -> None:
        """Validates a role entered in a form: the model knows this pair of objects, and the grant fits it."""
        if self.user_id and self.application_id and self.store_id:
            raise ValidationError("A role joins two of user, application and store: leave one of them out.")
        if not (self.application_id or self.store_id) or not self.grant:
            return
        on, grants = ("a store", STORE_GRANTS) if self.store_id else ("an application", APPLICATION_GRANTS)
        if self.grant not in grants:
            raise ValidationError({"grant": f"On {on} these count: {', '.join(sorted(grants))}."})
