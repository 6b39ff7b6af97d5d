"""Where the tables of this app belong when the database is split by store."""

from fulfillment.core.plugins import Distribution

DISTRIBUTION = Distribution(
    by_store="Attempt GangSheet Job JobHistory Scan",
    everywhere="Provider RoutingChoice RoutingRule",
    on_one="LedgerRow LedgerStem ProviderReport RoutingTally",
)
