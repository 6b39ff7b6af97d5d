"""Plays a print shop in development: takes jobs from a hot folder and reports their progress."""

import json
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from production.providers.models import Provider

# It knows only what a print shop knows: the two folders and the JSON ticket.
Say = Callable[[str], object]
POLL_SECONDS = 0.5


@dataclass(slots=True)
class DemoPress:
    """`seconds` pass between the steps of a job."""

    hot: Path
    back: Path
    seconds: float
    say: Say
    at_work: dict[str, tuple[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Continues the jobs it had taken before it was stopped."""
        for folder in self._find_shelf("taken").iterdir():
            self._begin_job(folder.name)

    def look(self) -> int:
        """Takes new jobs and advances the others; returns the number of unfinished ones."""
        self._take_new()
        for number, (step, due) in list(self.at_work.items()):
            if time.monotonic() >= due:
                self._go_on(number, step)
        return len(self.at_work)

    def _take_new(self) -> None:
        shelf = self._find_shelf("taken")
        for folder in sorted(self.hot.iterdir()):
            if folder.name.startswith(".") or not folder.is_dir():
                continue
            tickets = list(folder.glob("*.json"))
            if not tickets:
                continue
            ticket: dict[str, Any] = json.loads(tickets[0].read_bytes())
            number = ticket["JobNumber"]
            folder.rename(shelf / number)
            self.say(f"Job {number}: taken, {ticket['Quantity']} x {ticket['Product']['Name']}")
            self._begin_job(number)

    def _begin_job(self, number: str) -> None:
        self.at_work[number] = (0, time.monotonic() + self.seconds)

    def _find_shelf(self, name: str) -> Path:
        shelf = self.back.parent / name
        shelf.mkdir(exist_ok=True)
        return shelf

    def _go_on(self, number: str, step: int) -> None:
        if step == 0:
            self._write_report(number, State="InProduction", Message="On the press")
            self.at_work[number] = (1, time.monotonic() + self.seconds)
            self.say(f"Job {number}: printing")
            return
        tracking = f"DEMO{number.replace('-', '')}"
        self._write_report(number, State="Shipped", Carrier="Demo Carrier", TrackingNumber=tracking)
        self.say(f"Job {number}: shipped as {tracking}")
        (self._find_shelf("taken") / number).rename(self._find_shelf("done") / f"{number}-{time.time_ns()}")
        del self.at_work[number]

    def _write_report(self, number: str, **values: str) -> None:
        """Writes the report under a temporary name and renames it, so that no partial file is read."""
        timestamp = datetime.now(UTC).isoformat(timespec="seconds")
        name = f"{number}-{values['State']}-{time.time_ns()}"
        draft = self.back / f".{name}.tmp"
        draft.write_text(json.dumps({"JobNumber": number, "At": timestamp, **values}), "utf-8")
        draft.rename(self.back / f"{name}.json")


class Command(BaseCommand):
    help = "Play the press behind a hot folder: take, print and ship its jobs until you stop it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--provider", default="demo-press", help="code of the provider (default: %(default)s)"
        )
        parser.add_argument(
            "--seconds", type=float, default=5, help="between the steps of a job (default: %(default)s)"
        )
        parser.add_argument("--once", action="store_true", help="end when no job is left")

    def handle(self, *args: Any, provider: str, seconds: float, once: bool, **options: Any) -> None:
        record = Provider.objects.filter(code=provider, adapter="folder").first()
        if record is None or not record.settings.get("return_folder"):
            raise CommandError(
                f"No provider with the code {provider!r} has a hot folder and a return folder."
            )
        hot, back = Path(record.settings["folder"]), Path(record.settings["return_folder"])
        if not (hot.is_dir() and back.is_dir()):
            raise CommandError(f"{hot} or {back} does not exist.")
        press = DemoPress(hot, back, max(seconds, 0), self.stdout.write)
        self.stdout.write(f"The press watches {hot}. Accept an order of its store. Press Ctrl+C to stop.")
        try:
            while press.look() or not once:
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            self.stdout.write("Stopped")
