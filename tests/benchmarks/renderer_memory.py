"""The memory of renderers after many different proofs of all demo products: `python -m tests.benchmarks.renderer_memory
--proofs 10000`. Ends with 3 when one has more than its mark."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping

from printing.typesetting import (
    Field,
    Template,
    ValuesInvalid,
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
    render_proof,
    resolve_values,
)
from tests.benchmarks.__main__ import MISSED
from tests.benchmarks.proof_rows import RENDERER_MB
from tests.support.made_templates import DEMO
from tests.support.processes import descendants, resident

STEPS = 10
Design = tuple[Template, tuple[Field, ...], dict[str, str], dict[str, bytes]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.renderer_memory", description=__doc__)
    parser.add_argument("--proofs", type=int, default=10_000)
    count = parser.parse_args().proofs
    designs = list(_designs())
    refused, began = 0, time.monotonic()
    largest = 0.0
    for number in range(count):
        template, fields, sample, pictures = designs[number % len(designs)]
        try:
            values = resolve_values(fields, _varied(fields, sample, number), template.gallery)
            render_proof(template, values, pictures)
        except ValuesInvalid:
            refused += 1
        if (number + 1) % max(1, count // STEPS) == 0:
            held = sorted(map(resident, descendants(os.getpid())))
            largest = held[-1]
            shown = ", ".join(f"{one:.0f}" for one in held)
            print(f"{number + 1} proofs of {len(designs)} products: {shown} MB", flush=True)
    print(f"{time.monotonic() - began:.0f} s, {refused} refused; mark: {RENDERER_MB} MB")
    return MISSED if largest > RENDERER_MB else 0


def _designs() -> Iterator[Design]:
    for folder in sorted(one for one in DEMO.iterdir() if (one / "template.json").exists()):
        fields = load_fields(folder)
        sample = load_sample(folder)
        pictures = {
            field.field_name: (folder / "pictures" / sample[field.field_name]).read_bytes()
            for field in fields
            if field.type == "Image" and field.sub_type == "Upload" and sample.get(field.field_name)
        }
        yield parse_template(load_template_folder(folder), fields), fields, sample, pictures


def _varied(fields: tuple[Field, ...], sample: Mapping[str, str], number: int) -> dict[str, str]:
    """The same letters in another order in every single line, so that most of them fit."""
    changed = dict(sample)
    for field in fields:
        if (
            field.type == "Text"
            and field.sub_type == "SingleLine"
            and len(sample.get(field.field_name, "")) > 3
        ):
            text = sample[field.field_name]
            at = number % len(text)
            changed[field.field_name] = f"{text[at:]}{text[:at]}".strip()[:-2] + f"{number % 97:02}"
    return changed


if __name__ == "__main__":
    sys.exit(main())
