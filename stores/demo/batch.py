"""A batch of the demo: cards for sixty people, five rows of which have mistakes."""

from stores.batches.models import BatchMode
from stores.batches.rows import SourceRow
from stores.batches.selectors import shown_batches
from stores.batches.services.batches import BatchRequest, create_batch
from stores.batches.services.rows import Match, Source, replace_rows
from stores.orders.selectors.access import StoreAccess

PRODUCT = "business-card-standard"
FIRST_NAMES = ("Ada", "Ben", "Carla", "Deniz", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas")
LAST_NAMES = ("Albrecht", "Brooks", "Castillo", "Dvorak", "Eriksen", "Fontaine")
TITLES = ("Account manager", "Designer", "Engineer", "Office manager", "Sales")
RECIPIENT = {
    "Name": "Nora Albrecht",
    "Company": "Northfield Partners",
    "Address1": "410 Market Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
}
# By the number of the row: no name, no address, an address that is none, too long for the card, a sign of no font.
MISTAKES = {
    9: {"Name": ""},
    17: {"Email": ""},
    28: {"Email": "carla.example"},
    41: {"Name": "Maximiliane-Alexandra Konstantinopoulou-Papadopoulos of Thessaloniki " * 2},
    54: {"Name": "Hugo \U0001fac8 Brooks"},
}


def load_batch(access: StoreAccess) -> None:
    """The worker checks the rows after the start."""
    request = BatchRequest(
        product_id=PRODUCT,
        mode=BatchMode.ITEMS,
        name="Cards for the Denver office",
        quantity=100,
        recipient=RECIPIENT,
    )
    batch = create_batch(access=access, request=request)
    rows = [SourceRow(number, {**_person(number - 2), **MISTAKES.get(number, {})}) for number in range(2, 62)]
    columns = list(rows[0].values)
    matches = [Match(column, column, 1.0) for column in columns]
    replace_rows(batch=shown_batches().get(pk=batch.pk), source=Source(columns, rows, matches))


def _person(place: int) -> dict[str, str]:
    first, last = FIRST_NAMES[place % len(FIRST_NAMES)], LAST_NAMES[place // len(FIRST_NAMES)]
    return {
        "Name": f"{first} {last}",
        "Title": TITLES[place % len(TITLES)],
        "Email": f"{first}.{last}@northfield.example".lower(),
    }
