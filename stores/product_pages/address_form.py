"""The form for the address of an order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _

from fulfillment.core.errors import DomainError, faults_at_fields
from fulfillment.core.recorded_texts import translated

LABELS = {
    "Name": (_("Name"), "name"),
    "Company": (_("Company"), "organization"),
    "Address1": (_("Address"), "address-line1"),
    "Address2": (_("Address, second line"), "address-line2"),
    "City": (_("City"), "address-level2"),
    "State": (_("State"), "address-level1"),
    "PostalCode": (_("Postal code"), "postal-code"),
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
    """An address without its country, which belongs to the price."""

    fields: list[AddressField] = field(default_factory=list)

    @classmethod
    def of(cls, values: Mapping[str, str], *, with_contact: bool = False) -> "AddressForm":
        labels = LABELS | CONTACT if with_contact else LABELS
        return cls(
            [
                AddressField(name, str(label), autocomplete, values.get(f"to-{name}", "").strip()[:200])
                for name, (label, autocomplete) in labels.items()
            ]
        )

    @property
    def values(self) -> dict[str, str]:
        return {address_field.name: address_field.value for address_field in self.fields}

    @property
    def places(self) -> dict[str, AddressField]:
        return {f"/Recipient/{address_field.name}": address_field for address_field in self.fields}

    def take_errors(self, error: DomainError, problems: Sequence[str]) -> list[str]:
        """Shows faults at their fields; returns the problems that remain."""
        places = self.places
        placed, _ = faults_at_fields(error, {pointer: pointer for pointer in places})
        shown = {translated(fault.message) for fault in error.faults if fault.pointer in places}
        for pointer, messages in placed.items():
            places[pointer].errors += messages
        return [problem for problem in problems if problem not in shown]
