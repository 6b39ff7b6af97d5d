from uuid import UUID


def parse_uuid(text: str) -> UUID | None:
    """None for text that is not a UUID."""
    try:
        return UUID(text)
    except ValueError:
        return None
