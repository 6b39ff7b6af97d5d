"""The mark of the designer's live picture, on one design; `tests.benchmarks.previews` holds all of them to it."""

import statistics

from tests.benchmarks.previews import DESIGNS, PROCESSOR_MARK, milliseconds_of

ROUNDS = 3


def test_changed_page_is_drawn_within_the_mark():
    """In processor time; what else the machine does may spoil two of three rounds."""
    medians: list[float] = []
    while not medians or (medians[-1] > PROCESSOR_MARK and len(medians) < ROUNDS):
        times = milliseconds_of(DESIGNS / "business-card-standard", changes=6)
        medians.append(statistics.median(processor for _, processor in times))

    assert min(medians) <= PROCESSOR_MARK, medians
