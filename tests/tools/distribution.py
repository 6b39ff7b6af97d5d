"""What a PostgreSQL split by store would not take of the database: the list of docs/scaling.md.

`python -m tests.tools.distribution` writes it; a test compares it with the catalog. The rules are Citus's: a unique
key of a split table has the distribution column, a foreign key between split tables has it at both ends, and nothing
else refers to a split table. A split table refers to other tables only where they are on each node.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

import django
from django.apps import apps
from django.db import connection, models

from tests.support.database.databases import own_database
from tests.support.figures import write_between

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"
PLACE = "what Citus rejects"
COLUMN = "store_id"
BY_STORE, GLOBAL = "by store", "global"
HEAD = "| table | what Citus rejects | the migration |\n|---|---|---|\n"
KEYS = """
SELECT owner.relname, named.relname, one.indisprimary, array(
    SELECT attname::text FROM pg_attribute WHERE attrelid = one.indrelid AND attnum = ANY (one.indkey) ORDER BY attnum
) FROM pg_index one JOIN pg_class owner ON owner.oid = one.indrelid JOIN pg_class named ON named.oid = one.indexrelid
WHERE one.indisunique AND owner.relnamespace = 'public'::regnamespace ORDER BY 1, NOT one.indisprimary, 2
"""
FOREIGN_KEYS = """
SELECT owner.relname, target.relname, array(
    SELECT attname::text FROM pg_attribute WHERE attrelid = one.conrelid AND attnum = ANY (one.conkey)
) FROM pg_constraint one JOIN pg_class owner ON owner.oid = one.conrelid
JOIN pg_class target ON target.oid = one.confrelid WHERE one.contype = 'f' ORDER BY 1, 3, 2
"""
STORE_COLUMNS = """
SELECT table_name, is_nullable = 'YES' FROM information_schema.columns
WHERE table_schema = 'public' AND column_name = 'store_id' AND data_type = 'bigint'
"""
INTO_KEYS = f"put `{COLUMN}` into the keys"
INTO_FOREIGN_KEYS = f"put `{COLUMN}` into the foreign keys, at both ends"
# Values of a sequence, which no two stores can both have.
GENERATED = {("stores_order", "number"), ("production_job", "number")}
# Rows with an equal value there are of one store.
OF_ONE_STORE = {"order_id", "item_id", "product_id", "batch_id", "budget_id"}


@dataclass(frozen=True, slots=True)
class Distribution:
    """Where tables belong once a distributed PostgreSQL splits them by store; docs/scaling.md has what follows.

    Names of models of an app. Tables `by_store` are split by the column `store_id`, those `everywhere` are copied
    to each node, because rows of a store refer to them, and those that are `on_one` node are global. The table of
    a model's events goes with it if that one is split, else it is global.
    """

    by_store: str = ""
    everywhere: str = ""
    on_one: str = ""

    def placed(self) -> dict[str, str]:
        """The kind of each model."""
        kinds = {"by store": self.by_store, "everywhere": self.everywhere, "global": self.on_one}
        return {model: kind for kind, models in kinds.items() for model in models.split()}


APPS = {
    "accounts": Distribution(
        everywhere="Role Tenant User",
        on_one="""
            AssociationRequest Authenticator EmailChange IdempotentResponse Notification NotificationPreference
            RateWindow RecoveryCode RequestLease Subscription SubscriptionKey
        """,
    ),
    "applications": Distribution(
        everywhere="Application",
        # Events and deliveries are read by application, across all its stores.
        on_one="""
            ApplicationIcon ApplicationKey DailyUsage Delivery DeliveryAttempt Event LoggedRequest Milestone
            OwnerInvitation UsedCode Webhook WebhookSecret
        """,
    ),
    "delivery": Distribution(
        on_one="""
            Area Dataset EddmSelection EddmSelectionRoute ImportProblem ImportRun LiveDataset OfficialForm Population
            PostagePrice
        """,
    ),
    "production": Distribution(
        by_store="Attempt GangSheet Job JobHistory Scan",
        everywhere="Provider RoutingChoice RoutingRule",
        on_one="LedgerRow LedgerStem ProviderReport RoutingTally",
    ),
    "stores": Distribution(
        by_store="""
            ApprovalRequest Asset Batch BatchApproval BatchRow Budget BudgetEntry BudgetPeriod ColumnMapping CostCenter
            CostCenterMember Order OrderComment OrderDay OrderHistory OrderItem OrderSearch OrderTally OrderedAsset
            Proof Quote Shipment StoreUsage TestScenario
        """,
        everywhere="""
            DeliveredPrice Font OutputProfile PrintPreset Product ProductionSpeed Store StoreProfile TemplateField
            TemplatePicture
        """,
        on_one="ArtworkUpload CatalogUpload OrderView TemplateChange",
    ),
}
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


@dataclass
class Findings:
    refused: list[str] = field(default_factory=list)
    migration: list[str] = field(default_factory=list)

    def add(self, refused: str, migration: str) -> None:
        self.refused.append(refused)
        self.migration += [step for step in migration.split("; ") if step not in self.migration]


def declared() -> dict[str, str]:
    """The kind of each declared table; of a name that no model has, the name itself."""
    placed = dict(FRAMEWORKS.placed())
    for label, models_of_app in APPS.items():
        placed |= {f"{label}.{name}": kind for name, kind in models_of_app.placed().items()}
    known = {model._meta.label: model for model in _models()}
    kinds = {known[name]._meta.db_table if name in known else name: kind for name, kind in placed.items()}
    for event, tracked in _event_models().items():
        kind = kinds.get(tracked._meta.db_table)
        kinds[event._meta.db_table] = BY_STORE if kind == BY_STORE else GLOBAL
    return kinds


def _models() -> list[type[models.Model]]:
    return apps.get_models(include_auto_created=True)


def _event_models() -> dict[type[models.Model], type[models.Model]]:
    model_of = {model: getattr(model, "pgh_tracked_model", None) for model in _models()}
    return {event: tracked for event, tracked in model_of.items() if tracked is not None}


def tables() -> set[str]:
    with connection.cursor() as cursor:
        return {table.name for table in connection.introspection.get_table_list(cursor) if table.type in "tp"}


def _rows(statement: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def findings() -> dict[str, Findings]:
    """By table, from the catalog of the database."""
    kinds, by_table = declared(), {}
    for table in sorted(kinds):
        by_table[table] = Findings()
    nullable = dict(_rows(STORE_COLUMNS))
    split = sorted(table for table, kind in kinds.items() if kind == BY_STORE)
    for table in split:
        if table not in nullable:
            by_table[table].add(f"no `{COLUMN}`", f"add `{COLUMN}` from `{_filled_from(table, kinds)}`")
        elif nullable[table]:
            by_table[table].add(f"`{COLUMN}` may be null", f"make `{COLUMN}` NOT NULL")
    for table, name, is_primary, columns in _rows(KEYS):
        if kinds.get(table) == BY_STORE and COLUMN not in columns:
            by_table[table].add(f"key `{name}` ({', '.join(columns)})", _new_key(table, is_primary, columns))
    for table, target, columns in _rows(FOREIGN_KEYS):
        if problem := _refused_link(table, target, columns, kinds):
            by_table[table].add(*problem)
    return {table: finding for table, finding in by_table.items() if finding.refused}


def _new_key(table: str, is_primary: bool, columns: list[str]) -> str:
    if is_primary or (table, *columns) in GENERATED or any(column in OF_ONE_STORE for column in columns):
        return INTO_KEYS
    return f"{INTO_KEYS}; ({', '.join(columns)}) is then unique only within a store"


def _refused_link(
    table: str, target: str, columns: list[str], kinds: dict[str, str]
) -> tuple[str, str] | None:
    here, there, column = kinds.get(table), kinds.get(target), ", ".join(columns)
    words = f"foreign key ({column}) to `{target}`"
    if here == there == BY_STORE:
        return None if COLUMN in columns else (words, INTO_FOREIGN_KEYS)
    if there == BY_STORE:
        return words, f"drop the constraint on {column}: a {here} table cannot refer to a split table"
    if here == BY_STORE and there == GLOBAL:
        return words, f"drop the constraint on {column}, or put `{target}` everywhere"
    return None


def _filled_from(table: str, kinds: dict[str, str]) -> str:
    model = next(candidate for candidate in _models() if candidate._meta.db_table == table)
    for column in model._meta.local_concrete_fields:
        target = column.remote_field.model._meta.db_table if column.is_relation else ""
        if target and target != table and (kinds.get(target) == BY_STORE or target == "stores_product"):
            return target
    raise AssertionError(f"{table} is declared by store, and no column of it leads to a store")


def text() -> str:
    lines = (
        f"| `{table}` | {'; '.join(finding.refused)} | {'; '.join(finding.migration)} |\n"
        for table, finding in findings().items()
    )
    return HEAD + "".join(lines)


def written() -> str:
    page = PAGE.read_text("utf-8")
    return page.partition(f"<!-- {PLACE} -->\n")[2].partition(f"<!-- end of {PLACE} -->")[0]


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    with own_database(keep=True):
        write_between(PAGE, PLACE, text())
