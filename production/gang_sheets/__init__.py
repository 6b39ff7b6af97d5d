"""Several jobs of one size on one press sheet."""

from production.gang_sheets.imposing import impose_sheet
from production.gang_sheets.planning import plan_sheets
from production.gang_sheets.sheets import GangRequest, Place, Plan, PlannedSheet, Sheet

__all__ = ["GangRequest", "Place", "Plan", "PlannedSheet", "Sheet", "impose_sheet", "plan_sheets"]
