"""The first steps of applications, each recorded once."""

from uuid import UUID

from fulfillment.core.db.prepared import execute
from printing.caches import WeightedCache

CALLED = "called"
READ = "read"
PROOF = "proof"
EVENTS = "events"
TEST_ORDER = "test order"
# The application may have been deleted.
NOTE = """
INSERT INTO applications_milestone (application_id, name, reached)
SELECT id, %s, now() FROM applications_application WHERE id = %s ON CONFLICT DO NOTHING
"""
# Milestones already written, so that a process queries the database once for each.
_known: WeightedCache[tuple[UUID, str], bool] = WeightedCache(capacity=10_000, weight=lambda _: 1)


def record_milestone(*, application_id: UUID | None, name: str) -> None:
    if application_id is None or _known.get((application_id, name)):
        return
    execute(NOTE, (name, application_id))
    _known.put((application_id, name), True)


def record_milestone_with_effect(*, application_id: UUID, name: str) -> None:
    """Called in the transaction of what reached the milestone: if that is rolled back, so is the milestone."""
    execute(NOTE, (name, application_id))
