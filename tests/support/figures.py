from pathlib import Path


def write_between(document: Path, name: str, text: str) -> None:
    """Puts `text`, which ends its last line, between `<!-- name -->` and `<!-- end of name -->` of a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, marker, rest = document.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (marker and closed):
        raise ValueError(f"{document} has no place for {name}.")
    document.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")
