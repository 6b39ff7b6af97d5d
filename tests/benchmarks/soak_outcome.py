"""What became of the print jobs of soak_production: in the database, and at the presses."""

import statistics
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.benchmarks.soak_production import Run

P95_SECONDS, FAIL_OVER_SECONDS = 2.0, 60.0
MARK = (
    f"0 lost, 0 doubled, every history complete; accepted to sent p95 at most {P95_SECONDS:.0f} s; with the next "
    f"provider within {FAIL_OVER_SECONDS:.0f} s"
)


def report(run: "Run", adapter: str, took: float, fail_over: float, *, is_late: bool) -> list[str]:
    from production.jobs.models import Attempt, Job

    jobs = list(Job.objects.values_list("number", "state"))
    lost = [number for number, _ in jobs if number not in run.taken]
    doubled = [number for number, count in run.taken.items() if count > 1]
    histories = _wrong_histories()
    wrong = _wrong_jobs(run, jobs) + histories
    if is_late:
        wrong.append(f"not over in time: {dict(Counter(state for _, state in jobs))}")
    wrong += [f"no sender of {number} was killed" for number in _unharmed(run)]
    calm = [order.pk for order in run.placed[1 : run.calm]]
    calm_jobs = Job.objects.filter(order__in=calm, sent__isnull=False)
    waits = sorted((job.sent - job.created).total_seconds() for job in calm_jobs)
    p95 = statistics.quantiles(waits, n=20)[-1] if len(waits) > 1 else float("inf")
    if p95 > P95_SECONDS:
        wrong.append(f"accepted to sent p95 {p95:.2f} s")
    if fail_over > FAIL_OVER_SECONDS:
        wrong.append(f"fail-over took {fail_over:.0f} s")
    outcomes = Counter(Attempt.objects.values_list("outcome", flat=True))
    lines = [
        f"{adapter}: {len(lost)} lost, {len(doubled)} doubled, {len(histories)} incomplete of {len(jobs)} jobs in "
        f"{took:.0f} s; accepted to sent p50 {statistics.median(waits or [0]):.2f} s, p95 {p95:.2f} s of {len(waits)} "
        f"calm ones; fail-over {fail_over:.0f} s; {run.shared.kills} kills on the way, {run.started} senders; "
        f"{run.presses[1].taken.total()} at the second press; exchanges {dict(outcomes)}"
    ]
    lines += [f"FAILED: {adapter}: {each}" for each in wrong]
    print(*lines, sep="\n", flush=True)
    return lines


def _wrong_jobs(run: "Run", jobs: list[tuple[str, str]]) -> list[str]:
    taken, numbers = run.taken, {number for number, _ in jobs}
    wrong = [f"{number} came {count} times" for number, count in taken.items() if count > 1]
    wrong += [f"{number} never came" for number in numbers - taken.keys()]
    wrong += [f"{number} is no job" for number in taken.keys() - numbers]
    wrong += [f"{number} is {state}" for number, state in jobs if state != "Shipped"]
    return [*wrong[:20], *(one for press in run.presses for one in press.incomplete[:10])]


def _unharmed(run: "Run") -> list[str]:
    """One kill interrupts all jobs of its sender: a victim among them may be shipped before it is sent again."""
    from production.jobs.models import Attempt, AttemptOutcome

    interrupted = Attempt.objects.filter(outcome=AttemptOutcome.INTERRUPTED)
    return sorted(run.shared.spared - set(interrupted.values_list("number", flat=True)))


def _wrong_histories() -> list[str]:
    from production.jobs.models import Attempt, JobHistory
    from stores.orders.models import Order

    wrong = []
    if left := Attempt.objects.filter(outcome="").count():
        wrong.append(f"{left} exchanges without an outcome")
    states: dict[int, list[str]] = {}
    for job, state in JobHistory.objects.order_by("id").values_list("job", "state"):
        states.setdefault(job, []).append(state)
    incomplete = [one for one in states.values() if one[0] != "Queued" or one[-1] != "Shipped"]
    if incomplete:
        wrong.append(f"{len(incomplete)} histories such as {incomplete[0]}")
    unshipped = Order.objects.exclude(status=60)[:5]
    wrong += [f"order {order} is {order.get_status_display()}" for order in unshipped]
    doubled = sum(
        len(one) != len(set(one)) for one in Order.objects.values_list("tracking_numbers", flat=True)
    )
    return [*wrong, *([f"{doubled} orders with a parcel twice"] if doubled else [])]
