"""Names of columns as people write them."""

import re
import unicodedata
from functools import lru_cache

# Begins the names of the members of a recipient.
RECIPIENT = "Recipient."
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHERS = re.compile(r"[^\w]+|_+")
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "ł": "l", "Ł": "L", "đ": "d"})


def without_accents(text: str) -> str:
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(character for character in plain if not unicodedata.combining(character))


def normalized(name: str) -> str:
    """Lower-case words without accents and punctuation: `Recipient.PostalCode` is `recipient postal code`."""
    return _OTHERS.sub(" ", _WORD_STARTS.sub(" ", without_accents(name))).strip().lower()


# Each head of a file is compared with every name.
@lru_cache(maxsize=2048)
def compact(name: str) -> str:
    """Without spaces: `Zip code` and `ZipCode` are one name."""
    return normalized(name).replace(" ", "")


# Of the members of a recipient, in English, German, French and Spanish.
SYNONYMS: dict[str, frozenset[str]] = {
    member: frozenset(names.split(", "))
    for member, names in {
        "Name": "name, full name, recipient, recipient name, contact, contact name, addressee, ship to, "
        "ship to name, vollstandiger name, empfanger, nom, nom complet, nombre, nombre completo, ansprechpartner",
        "Company": "company, company name, organization, organisation, organization name, business, "
        "business name, firm, employer, firma, firmenname, unternehmen, entreprise, societe, empresa",
        "Address1": "address, address1, address 1, address line 1, line 1, street, street address, street 1, "
        "addr, addr1, addr 1, mailing address, shipping address, strasse, strasse und hausnummer, anschrift, adresse, "
        "adresse 1, rue, direccion, calle",
        "Address2": "address2, address 2, address line 2, line 2, street 2, apt, apartment, suite, unit, "
        "addr2, addr 2, apt suite, adresszusatz, adresse 2, complement, direccion 2",
        "City": "city, town, locality, place, stadt, ort, wohnort, ville, ciudad, poblacion",
        "State": "state, province, region, state province, state code, county, bundesland, kanton, etat, "
        "provincia, estado",
        "PostalCode": "postal code, postalcode, postcode, post code, zip, zipcode, zip code, zip postal code, "
        "postal, zip5, zip 5, plz, postleitzahl, code postal, cp, codigo postal",
        "CountryCode": "country code, country, countrycode, country iso, iso country, nation, land, landercode, pays, "
        "pais",
        "Phone": "phone, phone number, telephone, telephone number, tel, mobile, mobile phone, cell, cell phone, "
        "telefon, telefonnummer, handy, mobil, telephone portable, telefono, movil",
        "Email": "email, e mail, mail, email address, e mail address, e mail adresse, email adresse, courriel, "
        "correo, correo electronico",
        "LocationType": "location type, address type, residential commercial",
    }.items()
}


def member_names(member: str) -> frozenset[str]:
    names = map(compact, SYNONYMS[member])
    return frozenset(name for compacted in names for name in (compacted, f"recipient{compacted}"))
