from production.jobs.models.attempt import Attempt, AttemptKind, AttemptOutcome
from production.jobs.models.gang_sheet import GangSheet, SheetState
from production.jobs.models.history import JobHistory
from production.jobs.models.job import AT_PROVIDER, IN_WORK, OPEN, RANK, HoldReason, Job, JobState
from production.jobs.models.report import ProviderReport, ReportOutcome

__all__ = [
    "AT_PROVIDER",
    "IN_WORK",
    "OPEN",
    "RANK",
    "Attempt",
    "AttemptKind",
    "AttemptOutcome",
    "GangSheet",
    "HoldReason",
    "Job",
    "JobHistory",
    "JobState",
    "ProviderReport",
    "ReportOutcome",
    "SheetState",
]
