"""The memory of renderers after many different proofs of all demo products: `python -m tests.benchmarks.renderer_memory
--proofs 10000`. Ends with 3 when one has more than its mark."""

import argparse
import os
import sys
import time
from collections.abc import Mapping

from printing.typesetting import Field, ValuesInvalid, load_fields, render_proof
from tests.benchmarks import MISSED
from tests.benchmarks.proof_rows import RENDERER_MB
from tests.support.printing.made_templates import DEMO
from tests.support.printing.press_samples import demo_print
from tests.support.servers.processes import descendants, resident

STEPS = 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.renderer_memory", description=__doc__)
    parser.add_argument("--proofs", type=int, default=10_000)
    count = parser.parse_args().proofs
    designs = [(load_fields(folder), *demo_print(folder.name)) for folder in sorted(DEMO.iterdir())]
    refused, began = 0, time.monotonic()
    largest = 0.0
    for number in range(count):
        fields, template, values, pictures = designs[number % len(designs)]
        try:
            render_proof(template, _varied(fields, values, number), pictures)
        except ValuesInvalid:
            refused += 1
        if (number + 1) % max(1, count // STEPS) == 0:
            held = sorted(map(resident, descendants(os.getpid())))
            largest = held[-1]
            shown = ", ".join(f"{megabytes:.0f}" for megabytes in held)
            print(f"{number + 1} proofs of {len(designs)} products: {shown} MB", flush=True)
    print(f"{time.monotonic() - began:.0f} s, {refused} refused; mark: {RENDERER_MB} MB")
    return MISSED if largest > RENDERER_MB else 0


def _varied(fields: tuple[Field, ...], values: Mapping[str, str], number: int) -> dict[str, str]:
    """The same letters in another order in every single line, so that most of them fit."""
    changed = dict(values)
    for field in fields:
        text = values.get(field.field_name) or ""
        if field.type == "Text" and field.sub_type == "SingleLine" and len(text) > 3:
            at = number % len(text)
            changed[field.field_name] = f"{text[at:]}{text[:at]}".strip()[:-2] + f"{number % 97:02}"
    return changed


if __name__ == "__main__":
    sys.exit(main())
