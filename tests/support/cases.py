"""How many random cases a test tries: few in the suite, and all of them with CASES=all.

`make soak ARGS="--only cases"` runs `WITH_MORE_CASES` so.
"""

import os

IS_EVERY_CASE = os.environ.get("CASES") == "all"
WITH_MORE_CASES = (
    "tests/applications/oauth/test_races.py",
    "tests/clients/test_command.py",
    "tests/clients/test_retries.py",
    "tests/delivery/papers",
    "tests/fulfillment/core/api/test_schemathesis.py",
    "tests/fulfillment/core/test_interfaces.py",
    "tests/fulfillment/operations/test_hardening_page.py",
    "tests/fulfillment/site/test_console_parameters.py",
    "tests/printing/press/test_demo_print_files.py",
    "tests/printing/press/test_plates_by_others.py",
    "tests/production/adapters/test_adapter_soak.py",
    "tests/stores/batches/test_attacks.py",
    "tests/stores/batches/test_killed_workers.py",
    "tests/stores/batches/test_print_files.py",
    "tests/stores/budgets/test_model.py",
    "tests/stores/modes/test_crossings.py",
    "tests/stores/proofs/test_hostile_artwork.py",
)


def cases(few: int, every: int) -> int:
    return every if IS_EVERY_CASE else few
