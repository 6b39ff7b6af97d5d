"""Values of tickets, as XJDF and JDF write them: names, lengths, times and the paper."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from production.interface import AdapterJob, JobItem, WorkStyle

PAPER, OTHER_MATERIAL = "Paper", "Other"
PROCESS_PLATES = ("Cyan", "Magenta", "Yellow", "Black")
# From 0 to 100; 50 is usual.
RUSH_PRIORITY = "90"
# Names of CIP4.
WORK_STYLES = {"Sheetwise": "WorkAndBack", "WorkAndTurn": "WorkAndTurn", "WorkAndTumble": "WorkAndTumble"}
POINTS_PER_MM = 72 / 25.4
# Options with these names describe the paper; all others are features of the product.
MEDIA_CHOICES = {
    "BackCoating": frozenset({"Coated", "Gloss", "Matte", "None", "Satin"}),
    "Coating": frozenset({"Coated", "Gloss", "Matte", "None", "Satin"}),
    "MediaType": frozenset(
        {
            "CorrugatedBoard",
            "Film",
            "Foil",
            "Other",
            "Paper",
            "SelfAdhesive",
            "Textile",
            "Transparency",
            "Vinyl",
        }
    ),
}
# Characters of names in XML, without the colon.
NAME_CHARACTERS = (
    "A-Za-z0-9._\u00b7\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u037d\u037f-\u1fff\u200c\u200d\u203f\u2040"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff-"
)
MEDIA_NUMBERS = frozenset({"Thickness", "Weight"})
MEDIA_TEXTS = frozenset({"Brand", "MediaQuality"})


def checked_number(number: str) -> str:
    """The job number, checked as file name and as NMTOKEN of XML."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", number):
        raise ValueError(
            f"The job number {number[:100]!r} must be 1 to 100 letters, digits, dots, hyphens and underscores."
        )
    return number


def token(text: str) -> str:
    """An NMTOKEN of XML: characters that it cannot contain become hyphens."""
    return re.sub(f"[^{NAME_CHARACTERS}]+", "-", text.strip()).strip("-")


def xml_text(text: str) -> str:
    """Removes characters that XML forbids: control characters except tab and line feed, and lone surrogates."""
    return re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", " ", text.replace("\r\n", "\n"))


def points(millimetres: float) -> str:
    return f"{millimetres * POINTS_PER_MM:.4f}".rstrip("0").rstrip(".")


def sheet_size(job: AdapterJob) -> str:
    """The size of the paper of a gang sheet, else empty."""
    return " ".join(map(points, job.gang.sheet_mm)) if job.gang else ""


def work_style(job: AdapterJob) -> WorkStyle:
    """How the press turns a gang sheet, else empty."""
    return job.gang.work_style if job.gang else ""


def media_of_product(item: JobItem) -> dict[str, str]:
    """The paper by the product; options that the customer chose come before it.

    What has a stock code, but neither weight nor coating of paper, is of another material.
    """
    weight = str(item.stock_weight_gsm) if item.stock_weight_gsm else ""
    is_paper = bool(weight or item.coating or not item.stock_code)
    values = {
        "Coating": item.coating,
        "MediaQuality": item.stock_code,
        "MediaType": PAPER if is_paper else OTHER_MATERIAL,
        "Weight": weight,
    }
    # What was chosen in other words than those of CIP4 is an option for people; that of the product would be wrong.
    chosen_names = split_options(item.options)[1].keys() - {"MediaType"}
    return {name: value for name, value in values.items() if value and name not in chosen_names}


def paper_options(options: Mapping[str, str]) -> Mapping[str, str]:
    """Options that describe the paper."""
    return split_options(options)[0]


def split_options(options: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    media, features = {}, {}
    for name, value in sorted(options.items()):
        is_number = re.fullmatch(r"\d{1,6}(\.\d{1,4})?", value) is not None
        if (
            value in MEDIA_CHOICES.get(name, ())
            or name in MEDIA_TEXTS
            or (name in MEDIA_NUMBERS and is_number)
        ):
            media[name] = value
        elif token(name):
            features[name] = value
    return dict(sorted(media.items())), features


def local_time(moment: datetime | None) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z") if moment else ""


def utc_time(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if moment else ""
