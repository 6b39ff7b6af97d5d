"""The interface of provider adapters, which get all data as arguments and read no models."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol

from fulfillment.core.text import storable

# A poll ends within this time, so that what one provider does delays no other.
POLL_SECONDS = 30.0
# Limits of jobs that are sent together, because they are built in memory and one request or ticket names them all.
MAX_JOBS = 100
MAX_JOB_BYTES = 150 * 1024 * 1024
PREPARED, DONE, CANCELLED = "prepared", "done", "cancelled"
TAKEN = "taken"
WorkStyle = Literal["", "Sheetwise", "WorkAndTurn", "WorkAndTumble"]


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file for the press. `sha256` is hexadecimal."""

    name: str
    media_type: str
    sha256: str
    content: bytes
    url: str = ""  # a signed address, for providers that fetch
    is_printed: bool = True  # else papers that go with the pieces, such as those for the post office
    copies: int = 0  # how many sheets of paper are printed of it, overs included, for a gang sheet
    overs: int = 0


@dataclass(frozen=True, slots=True)
class JobItem:
    """`label` says who or what a piece of a batch is for, so that packing finds it."""

    key: str
    product_id: str
    product_name: str
    sku: str
    quantity: int
    pages: int
    width_mm: float
    height_mm: float
    bleed_mm: float
    is_two_sided: bool
    options: Mapping[str, str] = field(default_factory=dict)
    # Options that the print file shows: pieces that differ in nothing else are made alike.
    drawn_options: Collection[str] = frozenset()
    # The print preset of the file, as it was then; only files of equal ones share a sheet. Empty: the built-in one.
    preset: str = ""
    # The product's paper, empty where it does not say; names are those of XJDF.
    stock_code: str = ""
    stock_weight_gsm: int = 0
    coating: str = ""
    finish: str = ""
    binding: str = ""
    binding_edge: str = ""
    is_head_to_foot: bool = False
    folding: str = ""
    # Plates of the print file beside cyan, magenta, yellow and black.
    spot_plates: Sequence[str] = ()
    label: str = ""

    @property
    def sides(self) -> str:
        """The printed sides in the words of XJDF."""
        if not self.is_two_sided:
            return "OneSided"
        return "TwoSidedHeadToFoot" if self.is_head_to_foot else "TwoSidedHeadToHead"


@dataclass(frozen=True, slots=True)
class AdapterJob:
    """The job of an order item as adapters get it. `number` is unique, and the same for every retry.

    `ship_by` and `deliver_by` are the ends of days, in the time zone of the store. `siblings` are the numbers of all
    jobs of the order at this provider, this one included, in the order of the items.

    An adapter that takes several items gets the jobs of an order that leave on the same day as a single job. Its
    `together` lists those jobs in the order of the items, its `number` is the number of their order at the provider,
    and all its other fields are those of the first job.
    """

    number: str
    order_id: str
    order_number: str
    external_id: str
    store_id: str
    created: datetime
    ship_by: datetime | None
    deliver_by: datetime | None
    item: JobItem
    # Name, Company, Address1, Address2, City, State, PostalCode, CountryCode, Phone, Email
    recipient: Mapping[str, str]
    delivery_method: str
    files: Sequence[JobFile]
    note: str = ""
    production_days: int = 0
    is_rush: bool = False
    siblings: Sequence[str] = ()
    together: Sequence["AdapterJob"] = ()
    gang: "GangSheetDetails | None" = None  # only of a gang sheet

    @property
    def parts(self) -> Sequence["AdapterJob"]:
        """The jobs that are sent as one order at the provider, or this one alone."""
        return self.together or (self,)

    @property
    def members(self) -> Sequence["Member"]:
        return self.gang.members if self.gang else ()

    @property
    def place_of_order(self) -> str:
        """The place in the order, such as “2 of 3”; empty if the job is the only one of its order."""
        has_siblings = len(self.siblings) > 1 and self.number in self.siblings
        return f"{self.siblings.index(self.number) + 1} of {len(self.siblings)}" if has_siblings else ""

    @property
    def print_files(self) -> Sequence[JobFile]:
        return [file for file in self.files if file.is_printed]


@dataclass(frozen=True, slots=True)
class Member:
    """A job on a gang sheet: its order and recipient are in `job`, which has no files of its own.

    `places` says of each sheet, by the name of its file, how many pieces one sheet gives; `runs` how many are printed.
    """

    job: AdapterJob
    places: Mapping[str, int]
    runs: Mapping[str, int]

    @property
    def pieces(self) -> int:
        return sum(count * self.runs[name] for name, count in self.places.items())


@dataclass(frozen=True, slots=True)
class GangSheetDetails:
    """`sheet_mm` is the width and height of its paper, `waste` the unused part of that, overs included, from 0 to 1.

    `work_style` says how the press turns a sheet that is printed on both sides; else it is empty.
    """

    members: Sequence[Member]
    sheet_mm: tuple[float, float]
    work_style: WorkStyle = ""
    waste: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response without secrets; stored with the job."""

    request: str
    response: str
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Submitted:
    """The provider accepted the job; `reference` is its ID there."""

    reference: str
    exchange: Exchange


class ReportedState(StrEnum):
    """The states of jobs that providers report; `JobState` has them as well."""

    ACKNOWLEDGED = "Acknowledged"
    IN_PRODUCTION = "InProduction"
    SHIPPED = "Shipped"
    FAILED = "Failed"
    CANCELLED = "Cancelled"


@dataclass(frozen=True, slots=True)
class Report:
    """A report of a provider on a job, or on all that are one order there; `item_number` is of the one that is meant.

    `identifier` makes it idempotent; reports are ordered by `at`.
    """

    identifier: str
    job_number: str
    state: str  # a value of ReportedState
    at: datetime | None
    carrier: str = ""
    tracking_number: str = ""
    tracking_url: str = ""
    message: str = ""
    raw: str = ""
    item_number: str = ""


@dataclass(slots=True)
class SendingProgress:
    """Whether a failed exchange certainly sent nothing: the provider cannot have the job from it."""

    is_unsent: bool = True


class ProviderRefused(Exception):
    """The provider does not take the job: another try is useless. `exchange` holds its response.

    `concerns_all` says that it is not about this job, such as a wrong password: all jobs wait for a person, or for
    another provider, and none of them fails. `numbers` are the jobs at fault of several that were sent together; the
    others are sent without them. Empty: all. `is_unsent` says that the request ordered nothing, as one that only checks
    the job: the provider may still have it from an earlier attempt.
    """

    def __init__(
        self,
        message: str,
        exchange: Exchange | None = None,
        *,
        concerns_all: bool = False,
        numbers: Collection[str] = (),
        is_unsent: bool = False,
    ) -> None:
        super().__init__(storable(message))
        self.exchange, self.concerns_all = exchange, concerns_all
        self.numbers, self.is_unsent = numbers, is_unsent


class ProviderUnavailable(Exception):
    """The provider could not be reached or is busy: the same job is tried again, with the same number.

    `is_unsent` says for certain that nothing of the job reached it: only then may another provider get the job.
    """

    def __init__(
        self,
        message: str,
        exchange: Exchange | None = None,
        retry_after: float | None = None,
        *,
        is_unsent: bool = False,
    ) -> None:
        super().__init__(storable(message))
        self.exchange, self.retry_after, self.is_unsent = exchange, retry_after, is_unsent


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What an adapter notes of a job. `names` lie in the work folder `work` until they are handed over, as `state`
    says; `marks` are reports confirmed."""

    state: str
    work: str
    names: tuple[str, ...]
    digests: Mapping[str, str]
    marks: tuple[str, ...] = ()


class Ledger(Protocol):
    """Notes of the adapter of one provider on its jobs, by number. They last once a method has returned."""

    def read(self, number: str) -> LedgerEntry | None: ...

    def create(self, number: str, entry: LedgerEntry) -> LedgerEntry:
        """Creates the entry, or returns the existing one."""

    def write(self, number: str, entry: LedgerEntry) -> None: ...

    def add_mark(self, number: str, mark: str) -> None: ...

    def has_done(self) -> bool:
        """Whether any job was handed over."""

    def waiting(self) -> Sequence[tuple[str, LedgerEntry]]:
        """Entries that are done and not marked as taken."""

    def find_named(self, names: Collection[str], *, mark: str) -> Mapping[str, str]:
        """The number of the job of each name, where it has one without this mark."""

    def drafts(self) -> Collection[str]:
        """Work folders that prepared jobs still need."""


class Adapter(Protocol):
    """Built anew for each use, as `Class(settings, secrets, ledger)`; building one must not connect.

    `settings` are the checked values of the registered form, without those that it lists as `secrets`: these are in
    `secrets`, decrypted, where they are set. `ledger` keeps what the adapter notes of this provider's jobs.
    """

    def check_connection(self) -> str:
        """Returns a message about the connection; raises ProviderRefused or ProviderUnavailable."""

    def preview(self, job: AdapterJob) -> Mapping[str, Any]:
        """Returns exactly what `submit` would send, as {file name or request: text}."""

    def submit(self, job: AdapterJob) -> Submitted:
        """Submits the job once: a number that the provider already has counts as submitted."""

    def cancel(self, job: AdapterJob, reference: str) -> Exchange:
        """Raises ProviderRefused where the provider can no longer cancel or has no such request."""

    def poll(self) -> Sequence[Report]:
        """The next reports at the provider, of some files at once and within POLL_SECONDS; empty if the provider
        sends them itself. A malformed report is set aside, not raised: every poll would meet it again."""

    def confirm(self, reports: Sequence[Report]) -> None:
        """Called after the reports of `poll` are stored; removes them from the provider."""

    def parse_report(self, body: bytes, headers: Mapping[str, str]) -> Sequence[Report]:
        """The reports in a postback; raises ValueError with the fault."""
