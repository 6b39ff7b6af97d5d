from django.db import models


class BackupDrill(models.Model):
    """The last drill that passed, as a single row, for /metrics."""

    passed = models.DateTimeField()
    backup_made = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="backup_drill_single")]

    def __str__(self) -> str:
        return f"Backup of {self.backup_made}, restored {self.passed}"
