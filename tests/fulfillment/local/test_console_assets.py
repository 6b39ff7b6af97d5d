"""The console's copies of the style sheet and icons of django-unfold (`fulfillment.local.console_assets`)."""

import pytest
from fontTools.ttLib import TTFont

from fulfillment.core.plugins import offered
from fulfillment.local import console_assets as assets


@pytest.fixture(scope="module")
def known() -> frozenset[str]:
    return assets.class_names()


def test_font_has_every_icon_of_pages_and_menu():
    menu = {entry.icon for entries in offered("console", "NAVIGATION") for entry in entries}

    missing = (assets.symbol_names() | menu) - assets.ligatures(TTFont(assets.SYMBOL_COPY))

    # Of a template, of the menu, of a script of the designer, and of the style sheet: the mark of an error.
    assert {"search", "format_align_left", "warning", "calendar_today"} | menu <= assets.ligatures(
        TTFont(assets.SYMBOL_COPY)
    )
    assert missing == set()
    assert assets.SYMBOL_COPY.stat().st_size < 20_000


def test_style_sheet_has_every_class_of_the_pages(known):
    def classes(text: str) -> set[str]:
        return {assets.ESCAPE.sub("", name) for name in assets.CLASS_IN_SELECTOR.findall(text)}

    copy = assets.STYLE_COPY.read_text("utf-8")

    assert classes(assets.reduced_styles()) - classes(copy) == set()
    assert len(copy) < assets.STYLES.stat().st_size * 0.75


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".used{a:b}.unused{a:b}", ".used{a:b}"),
        (".unused,.used:not(:hover,:focus){a:b}", ".used:not(:hover,:focus){a:b}"),
        (r".md\:w-1\.5{a:b}.md\:w-2{a:b}", r".md\:w-1\.5{a:b}"),
        (r".\32 xl\:flex{a:b}.\33 xl\:flex{a:b}", r".\32 xl\:flex{a:b}"),
        (
            "@media print{.unused{a:b}}@media print{@supports (a:b){.used{a:b}.unused{a:b}}}",
            "@media print{@supports (a:b){.used{a:b}}}",
        ),
        ("@layer a,b;@font-face{a:b}h1{a:'}'}", "@layer a,b;@font-face{a:b}h1{a:'}'}"),
        (".select2-anything{a:b}.used .unused{a:b}", ".select2-anything{a:b}"),
    ],
)
def test_style_sheet_keeps_what_pages_use_alone(css, kept):
    known = frozenset({"used", "md:w-1.5", "2xl:flex"})

    assert "".join(assets._kept(css, known)) == kept


def test_class_names_are_read_off_templates_scripts_and_code(known):
    # Of a template, of django-unfold's, of code, of a script, and beside a tag of a template.
    assert {"console-card", "xl:hidden!", "is-nothing", "is-chosen", "console-passed"} <= known
    # Passed to a component within a tag, by the menu of the steps of a narrow page.
    assert "!px-0" in known
    assert r".\!px-0{" in assets.STYLE_COPY.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ('<p class="one{% if here %} two{% endif %}">', {"one", "two"}),
        ("{% include 'a.html' with class='!px-0 w-[38px]' %}", {"!px-0", "w-[38px]"}),
        ('<p class="{{ place|yesno:"first,rest" }}">', {"first", "rest"}),
    ],
)
def test_class_names_are_read_beside_and_within_template_tags(text, classes):
    assert classes <= set(assets.words_of_page(text))
