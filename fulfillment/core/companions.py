from typing import Protocol


class Companion(Protocol):
    """Work that runs beside the jobs of a worker. An app offers a function `companion` in its module `worker`."""

    name: str

    async def poll_due(self) -> None:
        """Runs until cancelled."""

    def stop_claiming(self) -> None:
        """The worker is to end: finish what is under way, start nothing new."""

    async def close(self) -> None:
        """Ends what is under way, after a moment to finish."""
