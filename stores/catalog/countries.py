"""ISO 3166-1: the codes of countries, with their names in English."""

from pathlib import Path

_LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
COUNTRIES = {line[:2]: line[3:] for line in _LINES}
