import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from production.management.press import Press
from production.providers.models import Provider

POLL_SECONDS = 0.5


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
        found = Provider.objects.filter(code=provider, adapter="folder").first()
        if found is None or not found.settings.get("return_folder"):
            raise CommandError(
                f"No provider with the code {provider!r} has a hot folder and a return folder."
            )
        hot, back = Path(found.settings["folder"]), Path(found.settings["return_folder"])
        if not (hot.is_dir() and back.is_dir()):
            raise CommandError(f"{hot} or {back} does not exist.")
        press = Press(hot, back, max(seconds, 0), self.stdout.write)
        self.stdout.write(f"The press watches {hot}. Accept an order of its store. Press Ctrl+C to stop.")
        try:
            while press.look() or not once:
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            self.stdout.write("Stopped")
