"""The Chromium that tests and benchmarks drive."""

import shutil

# Playwright itself starts the headless shell: it draws the same pages for half of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
