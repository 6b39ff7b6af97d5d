from typing import Protocol


class Companion(Protocol):
    """Work that runs beside the jobs of a worker. An app offers a function `companion` in its module `worker`."""

    name: str

    async def poll_due(self) -> None:
        """Runs until cancelled."""

    def stop_claiming(self) -> None:
        """Called when the worker stops: finish work under way, start nothing new."""

    async def close(self) -> None:
        """Cancels work under way, after a moment to finish."""
