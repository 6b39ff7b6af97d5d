"""Where tables belong once a distributed PostgreSQL splits them by store; docs/scaling.md has what follows.

The table of a model's events goes with it if that one is split, else it is global.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Distribution:
    """Names of models in lines. Tables `by_store` are split by the column `store_id`, those `everywhere` are copied
    to each node, because rows of a store refer to them, and those that are `on_one` node are global."""

    by_store: str = ""
    everywhere: str = ""
    on_one: str = ""

    def placed(self) -> dict[str, str]:
        """The kind of each model."""
        kinds = {"by store": self.by_store, "everywhere": self.everywhere, "global": self.on_one}
        return {model: kind for kind, models in kinds.items() for model in models.split()}


# Tables of the platform and of libraries, by app and model.
FRAMEWORKS = Distribution(
    on_one="""
        admin.LogEntry auth.Group auth.Permission auth.Group_permissions contenttypes.ContentType
        fulfillment.BackupDrill oauth2_provider.AccessToken oauth2_provider.DeviceGrant oauth2_provider.Grant
        oauth2_provider.IDToken oauth2_provider.RefreshToken pghistory.Context sessions.Session
        procrastinate.ProcrastinateEvent procrastinate.ProcrastinateJob procrastinate.ProcrastinatePeriodicDefer
        procrastinate.ProcrastinateWorker
    """
)
