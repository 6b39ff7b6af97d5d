"""The mistakes of a body: all are counted, the first are listed."""

from dataclasses import dataclass, field

from fulfillment.core.errors import Fault

# Otherwise a body full of mistakes would get a response of ten times its size.
MAX_LISTED = 100
# The code of an error detail that stands for mistakes which are only counted; its text is their number.
UNLISTED = "unlisted"


@dataclass(slots=True)
class CountedFaults:
    count: int = 0
    listed: list[Fault] = field(default_factory=list)

    def count_one(self) -> bool:
        """Counts a mistake; returns whether it is listed and therefore needs a message."""
        self.count += 1
        return len(self.listed) < MAX_LISTED

    @property
    def summary(self) -> str:
        if self.count == 1 and self.listed:
            return self.listed[0].message
        return f"{self.count:,} things are wrong with the body."
