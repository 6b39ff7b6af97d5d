"""The encoding of a text file, and what is wrong with the text of a cell."""

import codecs
import re
from pathlib import Path

from stores.batches.files.records import FileFault

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SAID = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "windows-1252": "cp1252",
    "cp1252": "cp1252",
    "iso-8859-1": "cp1252",
}
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w-]+)", re.IGNORECASE)
CHUNK = 1 << 20
CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_GARBLED = re.compile(r"[ÂÃ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€")  # noqa: RUF001
MAX_CELL_LENGTH = 32_767


def encoding_of(path: Path, content_type: str) -> str:
    """The encoding by the first bytes, else as the content type says, else UTF-8 where the bytes are that."""
    with path.open("rb") as stream:
        start = stream.read(4096)
    for bom, encoding in _BOMS:
        if start.startswith(bom):
            return encoding
    zeros = [start[offset::2].count(0) for offset in (0, 1)]
    if max(zeros) > len(start) // 8:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    charset = _CHARSET.search(content_type)
    if charset and charset[1].lower() in _SAID and _SAID[charset[1].lower()] != "utf-8":
        return _SAID[charset[1].lower()]
    return "utf-8" if _is_utf8(path) else "cp1252"


def _is_utf8(path: Path) -> bool:
    """Whether more characters beyond ASCII are sound UTF-8 than broken."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    sound = broken = 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            text = decoder.decode(chunk)
            if text.isascii():
                continue
            replaced = text.count("\ufffd")
            broken += replaced
            sound += sum(1 for character in text if character > "\x7f") - replaced
    return sound > broken or not broken


def text_fault(text: str) -> FileFault | None:
    """What no printed text may hold."""
    # All of these are unprintable, and most texts are not searched for them.
    if not text.isprintable() and (control := CONTROL.search(text)):
        return FileFault(
            "control_character",
            f"The cell has the control character U+{ord(control[0]):04X} at place {control.start() + 1}.",
            "Type the text of the cell again.",
            CONTROL.sub("\ufffd", text),
        )
    if "\ufffd" in text:
        return FileFault(
            "damaged_text",
            "The cell has a character that was damaged when the file was saved (\ufffd).",
            "Type the character again and save the file as UTF-8 or XLSX.",
            text,
        )
    if len(text) > MAX_CELL_LENGTH:
        return FileFault(
            "cell_too_long",
            f"The cell has {len(text):,} characters; at most {MAX_CELL_LENGTH:,} are allowed.",
            "Shorten the text.",
            text,
        )
    if not text.isascii() and _GARBLED.search(text):
        return FileFault(
            "garbled_text",
            "The cell looks as if the file was saved in another encoding than it was read in.",
            "Check the text. Save the file as UTF-8 or XLSX if it is wrong.",
            text,
            "Warning",
        )
    return None
