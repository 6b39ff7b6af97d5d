"""The part of a form for the recipient of a real order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fulfillment.core.errors import DomainError, faults_at_fields

LABELS = {
    "Name": ("Name", "name"),
    "Company": ("Company", "organization"),
    "Address1": ("Address", "address-line1"),
    "Address2": ("Address, second line", "address-line2"),
    "City": ("City", "address-level2"),
    "State": ("State", "address-level1"),
    "PostalCode": ("Postal code", "postal-code"),
}
CONTACT = {"Phone": ("Phone", "tel"), "Email": ("E-mail", "email")}
OPTIONAL = ("Company", "Address2", "State", *CONTACT)


@dataclass(slots=True)
class AddressField:
    name: str
    label: str
    autocomplete: str
    value: str = ""
    errors: list[str] = field(default_factory=list)

    @property
    def is_optional(self) -> bool:
        return self.name in OPTIONAL


@dataclass(slots=True)
class AddressForm:
    """All but the country, which belongs to the price."""

    fields: list[AddressField] = field(default_factory=list)

    @classmethod
    def of(cls, sent: Mapping[str, str], *, with_contact: bool = False) -> "AddressForm":
        labels = LABELS | CONTACT if with_contact else LABELS
        return cls(
            [
                AddressField(name, label, autocomplete, sent.get(f"to-{name}", "").strip()[:200])
                for name, (label, autocomplete) in labels.items()
            ]
        )

    @property
    def values(self) -> dict[str, str]:
        return {one.name: one.value for one in self.fields}

    @property
    def places(self) -> dict[str, AddressField]:
        return {f"/Recipient/{one.name}": one for one in self.fields}

    def take_errors(self, error: DomainError, problems: Sequence[str]) -> list[str]:
        """Shows faults at their fields; returns the problems that remain."""
        places = self.places
        placed, _ = faults_at_fields(error, {pointer: pointer for pointer in places})
        shown = {fault.message for fault in error.faults if fault.pointer in places}
        for pointer, messages in placed.items():
            places[pointer].errors += messages
        return [problem for problem in problems if problem not in shown]
