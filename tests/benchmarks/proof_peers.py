"""The same card by programs that draw HTML: a PDF and a PNG of each page, as a proof has them.

A headless Chromium that is kept open and only gets the changed text, and WeasyPrint with poppler's pdftoppm.
"""

import base64
import html
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from printing.typesetting import (
    FontSet,
    Template,
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
)
from printing.typesetting.template import RGB, Box, Page
from tests.support.browser.chromium import CHROMIUM
from tests.support.printing.made_templates import DEMO

DPI = 144
CSS_DPI = 96
TRIES = 10

Make = Callable[[str], None]


def measure_peers(product: str, field: str, ours: Make) -> dict[str, tuple[float, float]]:
    """For each peer that is installed: its milliseconds for a proof, and how many times ours these are.

    `ours` makes a proof with this text; all take turns.
    """
    with ExitStack() as opened:
        makers = {"ours": ours}
        for name, start in (("Chromium", _chromium), ("WeasyPrint", _weasyprint)):
            if make := start(opened, product, field):
                makers[name] = make
        taken: dict[str, list[float]] = {name: [] for name in makers}
        for number in range(TRIES + 1):
            for name, make in makers.items():
                started = time.perf_counter()
                make(f"Ada {os.getpid()} {number}")
                taken[name].append(1000 * (time.perf_counter() - started))
    # The first ones read fonts.
    middle = {name: median(times[1:]) for name, times in taken.items()}
    alone = middle.pop("ours")
    return {name: (milliseconds, milliseconds / alone) for name, milliseconds in middle.items()}


def _chromium(opened: ExitStack, product: str, field: str) -> Make | None:
    if CHROMIUM is None:
        return None
    from playwright.sync_api import sync_playwright

    template, values = _product(product)
    file = _folder(opened) / "card.html"
    style = _style(template, "font-weight: 100 900")
    file.write_text(f'<!doctype html><meta charset="utf-8"><style>{style}</style><body></body>')
    playwright = opened.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    opened.callback(browser.close)
    page = browser.new_page(device_scale_factor=DPI / CSS_DPI, viewport={"width": 1000, "height": 1000})
    page.goto(file.as_uri())
    size = {"width": f"{template.pages[0].width}mm", "height": f"{template.pages[0].height}mm"}

    def make(text: str) -> None:
        page.evaluate("html => { document.body.innerHTML = html }", _pages(template, {**values, field: text}))
        page.pdf(**size, print_background=True)
        for section in page.locator("section").all():
            section.screenshot()

    return make


def _weasyprint(opened: ExitStack, product: str, field: str) -> Make | None:
    if shutil.which("pdftoppm") is None:
        return None
    try:
        from weasyprint import CSS, HTML
        from weasyprint.text.fonts import FontConfiguration
    except ImportError:
        return None
    template, values = _product(product)
    folder = _folder(opened)
    fonts = FontConfiguration()
    style = CSS(string=_style(template), font_config=fonts)

    def make(text: str) -> None:
        pages = _pages(template, {**values, field: text})
        pdf = folder / "card.pdf"
        HTML(string=pages).write_pdf(pdf, stylesheets=[style], font_config=fonts)
        subprocess.run(["pdftoppm", "-png", "-r", str(DPI), pdf, folder / "page"], check=True)

    return make


def _product(product: str) -> tuple[Template, dict[str, Any]]:
    template = parse_template(load_template_folder(DEMO / product), load_fields(DEMO / product))
    return template, load_sample(DEMO / product)


def _folder(opened: ExitStack) -> Path:
    return Path(opened.enter_context(tempfile.TemporaryDirectory()))


def _style(template: Template, weights: str = "") -> str:
    """`weights` is what Chromium is told of fonts of many weights; WeasyPrint finds out."""
    first = template.pages[0]
    faces = [
        f'@font-face {{ font-family: "{family}"; src: url("{Path(path).resolve().as_uri()}");'
        f" font-style: {'italic' if 'Italic' in Path(path).name else 'normal'}; {weights} }}"
        for family in sorted({box.font for page in template.pages for box in page.boxes})
        for path in FontSet.shipped().paths
        if Path(path).name.startswith(family.replace(" ", ""))
    ]
    size = f"width: {first.width}mm; height: {first.height}mm"
    return "\n".join(
        [
            *faces,
            f"@page {{ size: {first.width}mm {first.height}mm; margin: 0 }}",
            "body { margin: 0 }",
            f"section {{ {size}; position: relative; overflow: hidden; break-after: page }}",
            "section > * { position: absolute; white-space: pre-line }",
        ]
    )


def _pages(template: Template, values: dict[str, Any]) -> str:
    return "".join(
        f"<section>{_background(template, page)}{''.join(_box(box, values) for box in page.boxes)}</section>"
        for page in template.pages
    )


def _background(template: Template, page: Page) -> str:
    if page.background is None:
        return ""
    picture = template.artwork[page.background]
    data = base64.b64encode(picture.data).decode()
    width, height = page.width + 2 * page.bleed, page.height + 2 * page.bleed
    place = f"left: {-page.bleed}mm; top: {-page.bleed}mm; width: {width}mm; height: {height}mm"
    return f'<img style="{place}" src="data:{picture.media_type};base64,{data}">'


def _box(box: Box, values: dict[str, Any]) -> str:
    text = box.text if box.field is None else str(values.get(box.field) or "")
    color = box.color.code if isinstance(box.color, RGB) else "#222222"
    style = (
        f"left: {box.x}mm; top: {box.y}mm; width: {box.width}mm; height: {box.height}mm; color: {color};"
        f" font: {'italic ' if box.italic else ''}{box.weight} {box.size}pt/{box.line_spacing} '{box.font}';"
        f" text-align: {box.align}; letter-spacing: {box.tracking}em"
    )
    return f'<div style="{style}">{html.escape(text or "")}</div>'
