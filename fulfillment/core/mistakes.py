"""All mistakes of one body: every one is counted, the first are listed."""

from dataclasses import dataclass, field

from fulfillment.core.errors import Fault

# A body of mistakes alone would be answered with ten times its size.
LISTED = 100
# The code of an error detail that stands for mistakes which are only counted; its text is their number.
UNLISTED = "unlisted"


@dataclass(slots=True)
class Mistakes:
    count: int = 0
    listed: list[Fault] = field(default_factory=list)

    def count_one(self) -> bool:
        """Whether it is one of those that are listed: only then is its message made."""
        self.count += 1
        return len(self.listed) < LISTED

    @property
    def summary(self) -> str:
        if self.count == 1 and self.listed:
            return self.listed[0].message
        return f"{self.count:,} things are wrong with the body."
