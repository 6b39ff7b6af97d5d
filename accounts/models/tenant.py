import pghistory
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower

LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
DOMAIN_NAME = rf"^(?=.{{1,253}}\Z){LABEL}(?:\.{LABEL})*\Z"


@pghistory.track()
class Tenant(models.Model):
    """An organisation, named by its domain; the names of its users are unique within it."""

    domain = models.CharField(
        max_length=253, validators=[RegexValidator(DOMAIN_NAME, "Write a domain name, such as example.com.")]
    )
    name = models.CharField(max_length=200)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(Lower("domain"), name="tenant_domain_unique")]
        ordering = ["domain"]

    def __str__(self) -> str:
        return self.domain
