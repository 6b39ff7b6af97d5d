"""Names of columns as people write them, and the template fields and members of a recipient that they match."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

# Begins the names of the members of a recipient.
RECIPIENT = "Recipient."
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHERS = re.compile(r"[^\w]+|_+")
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "ł": "l", "Ł": "L", "đ": "d"})


# Marks are put in order before they go, in quadratic time: 10,000 in a cell held all threads for 50 ms.
_NORMALIZED_AT_ONCE = 100
# Other names of the members of a recipient, in English, German, French and Spanish.
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
# How sure each way of matching is. A template field comes before a recipient's member of the same meaning.
_EXACT, _SAME_WORDS, _LABEL = 1.0, 0.95, 0.9
_PREFIXED, _MEMBER, _FIELD_SYNONYM, _SYNONYM = 0.88, 0.85, 0.8, 0.75
_ALIKE = 0.6
_ALIKE_FROM = 0.85
# Longer names are compared for equality alone: 256 heads and 200 fields of 190 letters took two minutes.
_ALIKE_LENGTH = 40
# Pairs this close to the best are as likely.
_TIE = 0.02
_PREFIXES = ("recipient", "shipto", "shipping", "delivery", "mailing", "to", "empfanger", "lieferadresse")


def without_accents(text: str) -> str:
    if text.isascii():
        return text
    text = text.translate(_LETTERS)
    parts = (text[start : start + _NORMALIZED_AT_ONCE] for start in range(0, len(text), _NORMALIZED_AT_ONCE))
    plain = (unicodedata.normalize("NFKD", part) for part in parts)
    return "".join(letter for part in plain for letter in part if not unicodedata.combining(letter))


def normalized(name: str) -> str:
    """Lower-case words without accents and punctuation: `Recipient.PostalCode` is `recipient postal code`."""
    return _OTHERS.sub(" ", _WORD_STARTS.sub(" ", without_accents(name))).strip().lower()


# Each head of a file is compared with every name.
@lru_cache(maxsize=2048)
def compact(name: str) -> str:
    """The name without spaces: `Zip code` and `ZipCode` are one name."""
    return normalized(name).replace(" ", "")


def member_names(member: str) -> frozenset[str]:
    names = map(compact, SYNONYMS[member])
    return frozenset(name for compacted in names for name in (compacted, f"recipient{compacted}"))


_MEMBERS = {member: frozenset(map(compact, names)) for member, names in SYNONYMS.items()}


@dataclass(frozen=True)
class Match:
    target: str
    column: str
    score: float


def match_columns(
    *, columns: Sequence[str], targets: Sequence[str], labels: Mapping[str, str]
) -> list[Match]:
    """Best pairs first, each target and column at most once; what could be two things is not matched."""
    scores = {
        (target, column): score
        for target in dict.fromkeys(targets)
        for column in dict.fromkeys(columns)
        if (score := _rate_match(column, target, labels.get(target, "")))
    }
    matches: list[Match] = []
    while scores:
        best = max(scores.values())
        pairs = [pair for pair, score in scores.items() if score > best - _TIE]
        of_target, of_column = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
        matches += [
            Match(target, column, scores[target, column])
            for target, column in pairs
            if of_target[target] == of_column[column] == 1
        ]
        # What fits two equally well fits neither, nor anything less well.
        targets_done, columns_done = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        scores = {
            (target, column): score
            for (target, column), score in scores.items()
            if target not in targets_done and column not in columns_done
        }
    order = {target: index for index, target in enumerate(targets)}
    return sorted(matches, key=lambda match: order[match.target])


def _rate_match(column: str, target: str, label: str) -> float:
    if column == target:
        return _EXACT
    name = compact(column)
    if not name:
        return 0.0
    if name == compact(target):
        return _SAME_WORDS
    if name == compact(label):
        return _LABEL
    if target.startswith(RECIPIENT):
        return _recipient_score(name, target.removeprefix(RECIPIENT))
    is_synonym = any({name, compact(target)} <= names for names in _MEMBERS.values())
    return _FIELD_SYNONYM if is_synonym else _rate_likeness(name, [compact(target), compact(label)])


def _recipient_score(name: str, member: str) -> float:
    names = _MEMBERS.get(member, frozenset()) | {compact(member)}
    if any(name.startswith(prefix) and name.removeprefix(prefix) in names for prefix in _PREFIXES):
        return _PREFIXED
    if name == compact(member):
        return _MEMBER
    return _SYNONYM if name in names else _rate_likeness(name, names)


def _rate_likeness(name: str, others: Iterable[str]) -> float:
    """The likeness of names, for slips of the keyboard in names that are long enough to tell."""
    best = max((_compare_names(name, other) for other in others), default=0.0)
    return round(_ALIKE * best, 3) if best >= _ALIKE_FROM else 0.0


def _compare_names(name: str, other: str) -> float:
    """0 for names that are certainly not alike: a file of 256 long heads would take seconds."""
    shorter, both = min(len(name), len(other)), len(name) + len(other)
    if shorter <= 4 or both - shorter > _ALIKE_LENGTH or 2 * shorter < _ALIKE_FROM * both:
        return 0.0
    matcher = SequenceMatcher(None, name, other)
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE_FROM else 0.0
