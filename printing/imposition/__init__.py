"""Several jobs of one size on one press sheet."""

from printing.imposition.contact_sheets import Cell, contact_sheet
from printing.imposition.imposing import impose_sheet
from printing.imposition.marks import spot_plates
from printing.imposition.planning import piece_of, plan_sheets
from printing.imposition.sheets import GangRequest, Plan, PlannedSheet, PressSheet, Slug
from printing.imposition.stamping import Stamp, stamp_file
