"""The steps of a job for its page: past, current and next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from production.jobs.models import RANK, Job, JobState


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    state: str
    at: datetime | None
    is_done: bool
    is_current: bool


def steps_of(job: Job) -> Sequence[Step]:
    """A job that failed or was cancelled ends where that happened."""
    times: dict[str, datetime] = {}
    for state, at in job.history.order_by("id").values_list("state", "timestamp"):
        # A restarted job begins at the first step.
        times = {} if state == JobState.QUEUED and state in times and len(times) > 1 else times
        times.setdefault(state, at)
    has_ended = job.state in (JobState.FAILED, JobState.CANCELLED)
    reached = (
        max((RANK[state] for state in times if state in RANK), default=0) if has_ended else RANK[job.state]
    )
    way = [JobState(state) for state in RANK if not has_ended or RANK[state] <= reached]
    steps = [
        Step(
            str(state.label),
            state,
            times.get(state),
            RANK[state] <= reached,
            not has_ended and RANK[state] == reached,
        )
        for state in way
    ]
    if has_ended:
        steps.append(
            Step(job.get_state_display(), job.state, times.get(job.state), is_done=True, is_current=True)
        )
    return steps
