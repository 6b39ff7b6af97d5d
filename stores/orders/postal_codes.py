"""Forms of postal codes that are known for certain; any other is the carrier's to judge."""

import re

# USPS Publication 28; Canada Post's addressing guide, which also says which letters are not used.
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
    """What a postal code of this country looks like, if this one does not."""
    pattern, form = _POSTAL_CODES.get(country_code, (None, None))
    return form if pattern and not pattern.fullmatch(postal_code) else None
