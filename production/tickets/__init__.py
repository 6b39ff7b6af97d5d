"""Job tickets for presses, and their reports."""

from production.tickets.jdf import write_jdf
from production.tickets.json_ticket import write_json_ticket
from production.tickets.report_files import (
    REPORT_SUFFIXES,
    read_csv_reports,
    read_json_reports,
    read_report_file,
)
from production.tickets.xjdf import write_xjdf
from production.tickets.xjmf import read_xjmf
