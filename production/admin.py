from production.dispatch.admin.jobs import JobAdmin
from production.dispatch.admin.reports import ReportAdmin
from production.gang_sheets.admin import GangSheetAdmin
from production.providers.admin import ProviderAdmin
from production.routing.admin import RoutingRuleAdmin
