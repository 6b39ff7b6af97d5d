"""Proofs, print files and pictures of a template, and documents of a layout of one's own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from printing.typesetting.errors import (
    InputProblem,
    RenderingFailed,
    RenderingTimedOut,
    TemplateInvalid,
    ValuesInvalid,
)
from printing.typesetting.fonts import FontSet
from printing.typesetting.press import BUILT_IN_PRESS, Press
from printing.typesetting.render_input import RenderInputBuilder
from printing.typesetting.runs import DPI, PAGE_PIXELS, Run, SetText, typeset_alone
from printing.typesetting.template import Template
from printing.typesetting.workdir import current_workdir
from printing.waiting import own_time

SECONDS = 10.0
MARK_LETTERS = 24
MARK_FAMILY = "Lato"
# What layout.typ draws for a screen: nothing outside of the trim.
SCREEN = {"print": False, "slug": 0, "marks": False, "slug-lines": []}


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof for the customer: a PDF, a PNG of each page, and warnings about the print quality."""

    pdf: bytes
    pages: tuple[bytes, ...]
    messages: tuple[InputProblem, ...]
    texts: tuple[SetText, ...] = ()


@dataclass(frozen=True, slots=True)
class PrintFile:
    """The print-ready PDF of an order, and warnings about the print quality."""

    pdf: bytes
    messages: tuple[InputProblem, ...]
    texts: tuple[SetText, ...] = ()


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page's PNG without the boxes that cannot be printed, and their problems."""

    png: bytes
    problems: tuple[InputProblem, ...]
    texts: tuple[SetText, ...] = ()


def render_proof(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    mark: str | None = "PROOF",
    *,
    press: Press | None = None,
    seconds: float = SECONDS,
) -> Proof:
    """Render the trimmed pages under a light mark; the same input gives the same bytes.

    With `press` the pages of its print file, in the colors of their inks: a press proof. `images` are those of the
    print file then.

    `values` come from resolve_values; `images` maps an Image field's name to its uploaded PNG or JPEG.
    Raises ValuesInvalid naming each field that cannot be printed, RenderingFailed or RenderingBusy.
    """
    font_set, in_print = fonts or FontSet.shipped(), press is not None
    builder = RenderInputBuilder(
        template, images or {}, font_set, for_screen=not in_print, press=press, shows_plates=in_print
    )
    job: dict[str, Any] = dict(SCREEN) if press is None else {**press.job(template.pages), "makes": "proof"}
    job = _add_mark(builder, job, (mark or "")[:MARK_LETTERS] or None)
    parts, texts = _render_parts(builder, values, job, seconds, press)
    return Proof(parts[0], tuple(parts[1:]), tuple(builder.render_input.messages), texts)


def render_page(
    template: Template,
    number: int,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    mark: str | None = None,
    *,
    pixels: int,
    with_bleed: bool = False,
    seconds: float = SECONDS,
) -> PagePicture:
    """Draw one page as it is trimmed, or with its bleed, `pixels` wide, for a form or the template designer.

    Boxes that cannot be printed are left out and reported, where render_proof raises ValuesInvalid.
    """
    page = template.pages[number].with_bleed() if with_bleed else template.pages[number]
    pixels = min(pixels, int((PAGE_PIXELS * page.width / page.height) ** 0.5))
    builder = RenderInputBuilder(
        replace(template, pages=(page,)), images or {}, fonts or FontSet.shipped(), for_screen=True
    )
    job = _add_mark(builder, {**SCREEN, "ppi": pixels / (page.width / 25.4), "page-only": True}, mark)
    workdir = current_workdir()
    artwork = workdir.hold_template(template)
    deadline = own_time() + seconds
    try:
        render_input = builder.build(values, artwork)
        problems = [*render_input.problems, *render_input.messages]
        try:
            [picture], texts = Run(builder, workdir, job, deadline).typeset()
        except ValuesInvalid as error:
            problems += error.problems
            [picture], texts = Run(builder, workdir, {**job, "reporting": True}, deadline).typeset()
    finally:
        workdir.release_template(template)
    return PagePicture(picture, tuple(problems), tuple(replace(text, page=number) for text in texts))


def render_backgrounds(template: Template, *, ppi: float, seconds: float = SECONDS) -> list[bytes]:
    """A PNG of each page with its bleed but without its boxes, to read its colors from."""
    pages = tuple(replace(page.with_bleed(), boxes=()) for page in template.pages)
    builder = RenderInputBuilder(replace(template, pages=pages), {}, FontSet.shipped(), for_screen=True)
    job = {"mark": None, **SCREEN, "ppi": ppi, "page-only": True}
    return _render_parts(builder, {}, job, _at_most(seconds))[0]


def render_inks(template: Template, press: Press, *, ppi: float, seconds: float = SECONDS) -> list[bytes]:
    """A gray PNG of the ink of each page's background as it is trimmed, white where all inks are full."""
    builder = RenderInputBuilder(
        template, {}, FontSet.shipped(), for_screen=False, press=press, shows_plates=True
    )
    plain = {**SCREEN, "print": True, "slug": press.slug_mm, "makes": "inks", "ppi": ppi}
    return _render_parts(builder, {}, _add_mark(builder, plain, None), _at_most(seconds), press)[0]


def render_print(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    *,
    mark: str | None = None,
    press: Press = BUILT_IN_PRESS,
    seconds: float = 6 * SECONDS,
) -> PrintFile:
    """Render for the press: PDF/X-4 as the preset says, pictures at full resolution.

    `mark` is for files that must not be printed.
    """
    font_set = fonts or FontSet.shipped()
    builder = RenderInputBuilder(template, images or {}, font_set, for_screen=False, press=press)
    job = _add_mark(builder, press.job(template.pages), mark)
    parts, texts = _render_parts(builder, values, job, seconds, press)
    return PrintFile(parts[0], tuple(builder.render_input.messages), texts)


def render_document(
    layout: Path,
    data: Any,
    *,
    timestamp: int,
    pictures: Sequence[bytes] = (),
    seconds: float = SECONDS,
) -> bytes:
    """Render a Typst layout of one's own as a PDF; it reads `data` from job.json, as values and never as markup.

    `pictures` are PNG files, which the layout finds as 0.png, 1.png and so on.

    Raises RenderingFailed or RenderingBusy.
    """
    setting = {"layout": "document", "timestamp": timestamp, "ppi": DPI, "outputs": ["pdf"]}
    parts = [json.dumps(data).encode(), layout.read_bytes()]
    header, outputs = typeset_alone(setting, parts, seconds, pictures)
    if not header["ok"]:
        raise RenderingFailed(f"The typesetter rejected {layout.name}: {header['message']}")
    return outputs[0]


def try_template(template: Template, fonts: FontSet | None = None) -> None:
    """Render the template without values, as a check before it is saved; raise TemplateInvalid if that fails."""
    try:
        render_print(template, {}, fonts=fonts, seconds=SECONDS)
        render_proof(template, {}, fonts=fonts)
    except (RenderingFailed, ValuesInvalid) as error:
        raise TemplateInvalid(
            [InputProblem("", "not_renderable", f"The template can't be rendered: {error}")]
        ) from error


def _at_most(seconds: float) -> float:
    """The remaining seconds of the caller, at most SECONDS; raises RenderingTimedOut if none are left."""
    if seconds <= 0:
        raise RenderingTimedOut("No time is left to render.")
    return min(seconds, SECONDS)


def _add_mark(builder: RenderInputBuilder, job: Mapping[str, Any], mark: str | None) -> dict[str, Any]:
    families = builder.fonts.chain(MARK_FAMILY, "".join([mark or "", *job["slug-lines"]]))[0]
    return {**job, "mark": mark, "mark-fonts": families}


def _render_parts(
    builder: RenderInputBuilder,
    values: Mapping[str, str],
    job: dict[str, Any],
    seconds: float,
    press: Press | None = None,
) -> tuple[list[bytes], tuple[SetText, ...]]:
    deadline = own_time() + seconds
    workdir = current_workdir()
    artwork = workdir.hold_template(builder.template)
    try:
        render_input = builder.build(values, artwork)
        if render_input.problems:
            raise ValuesInvalid(render_input.problems)
        return Run(builder, workdir, job, deadline, press).typeset()
    finally:
        workdir.release_template(builder.template)
