"""The forms of postal codes in the US and Canada; those of other countries are not checked."""

import re

# USPS Publication 28; Canada Post's addressing guide, which also lists the unused letters.
_POSTAL_CODES = {
    "US": (re.compile(r"[0-9]{5}(-?[0-9]{4})?"), "5 digits, or 9 as in 80202-1234"),
    "CA": (
        re.compile(
            r"[ABCEGHJ-NPRSTVXY][0-9][ABCEGHJ-NPRSTV-Z][ -]?[0-9][ABCEGHJ-NPRSTV-Z][0-9]", re.IGNORECASE
        ),
        "letters and digits in turn, as in K1A 0B1",
    ),
}


def postal_code_form(country_code: str, postal_code: str) -> str | None:
    """A description of the country's form if the postal code does not have it, else None."""
    pattern, form = _POSTAL_CODES.get(country_code, (None, None))
    return form if pattern and not pattern.fullmatch(postal_code) else None
