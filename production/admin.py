from production.jobs.admin.gang_sheets import GangSheetAdmin
from production.jobs.admin.jobs import JobAdmin
from production.jobs.admin.reports import ReportAdmin
from production.providers.admin.providers import ProviderAdmin
from production.routing.admin.rules import RoutingRuleAdmin

__all__ = [
    "GangSheetAdmin",
    "JobAdmin",
    "ProviderAdmin",
    "ReportAdmin",
    "RoutingRuleAdmin",
]
