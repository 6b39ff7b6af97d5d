"""Describes changes of a template as the editor would."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import orjson
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from fulfillment.core.admin.history import FieldChange, limit_changes
from fulfillment.core.recorded_texts import translated
from stores.catalog.models import Product, TemplateChange
from stores.editor.admin.forms import BOX_MEMBERS, KINDS, PAGE_MEMBERS, input_text, lower_first

LABELS = {member.name: member.label for member in (*PAGE_MEMBERS, *BOX_MEMBERS)}
PLACE, SIZE = ("X", "Y"), ("Width", "Height")
PICTURES = {"Artwork": gettext_noop("Artwork"), "Gallery": gettext_noop("Gallery picture")}


def template_changes(product: Product, events: Sequence[Any]) -> dict[int, list[FieldChange]]:
    """The template change of each event of the product, by `pgh_id`."""
    versions = [event.version for event in events]
    changes = {
        (change.version, change.timestamp): change
        for change in TemplateChange.objects.filter(product=product, version__in=versions)
    }
    pairs = ((event, changes.get((event.version, event.pgh_created_at))) for event in events)
    return {
        event.pgh_id: changes_of_template(change.before, change.after) for event, change in pairs if change
    }


def changes_of_template(before: Any, after: Any) -> list[FieldChange]:
    """(what, before, after) of each change; before or after is empty if it was added or removed."""
    if before is None or after is None:
        return [(_("Template"), _summarize(before), _summarize(after) or _("none"))]
    changes = limit_changes(
        [*_compare_pages(before, after), *_compare_pictures(before, after)], remaining_title=_("Template")
    )
    return changes or [(_("Template"), "", _("written in another form; it shows the same"))]


def _summarize(outline: Any) -> str:
    if outline is None:
        return ""
    pages = _read_list(outline, "Pages")
    boxes = sum(_count_boxes(page) for page in pages)
    count = ngettext("%(count)s page", "%(count)s pages", len(pages)) % {"count": len(pages)}
    return f"{count}, {_boxes_in_words(boxes)}"


def _compare_pages(before: Any, after: Any) -> Iterator[FieldChange]:
    old, new = _read_list(before, "Pages"), _read_list(after, "Pages")
    if len(old) != len(new):
        yield _("Pages"), str(len(old)), str(len(new))
    for pair in _pair_pages(old, new):
        yield from _compare_page(pair, old, new)


def _pair_pages(old: list[Any], new: list[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs old and new pages: equal pages first, even if moved, the others in their order."""
    matcher = SequenceMatcher(
        None, [_make_key(page) for page in old], [_make_key(page) for page in new], autojunk=False
    )
    pairs: list[tuple[int | None, int | None]] = []
    removed: list[int] = []
    come: list[int] = []
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        same = min(last - first, end - begin)
        pairs += [(first + step, begin + step) for step in range(same)]
        removed += range(first + same, last)
        come += range(begin + same, end)
    for number in removed:
        moved = next((other for other in come if _make_key(new[other]) == _make_key(old[number])), None)
        if moved is not None:
            come.remove(moved)
        pairs.append((number, moved))
    yield from sorted([*pairs, *((None, number) for number in come)], key=_by_place)


def _by_place(pair: tuple[int | None, int | None]) -> tuple[bool, int]:
    old_index, new_index = pair
    return new_index is None, (old_index if new_index is None else new_index) or 0


def _compare_page(
    pair: tuple[int | None, int | None], old: list[Any], new: list[Any]
) -> Iterator[FieldChange]:
    old_index, new_index = pair
    if new_index is None and old_index is not None:
        yield _page_name(old_index), _page_summary(old[old_index]), _("removed")
    elif old_index is None and new_index is not None:
        yield _page_name(new_index), "", _("added: %(what)s") % {"what": _page_summary(new[new_index])}
    elif old_index is not None and new_index is not None:
        if _make_key(old[old_index]) == _make_key(new[new_index]):
            yield _page_name(old_index), "", _("moved to place %(place)s") % {"place": new_index + 1}
            return
        page_name = _page_name(new_index)
        yield from _compare_members(page_name, old[old_index], new[new_index], skipped=("Boxes",))
        yield from _compare_boxes(page_name, old[old_index].get("Boxes"), new[new_index].get("Boxes"))


def _compare_boxes(place_name: str, before: Any, after: Any) -> Iterator[FieldChange]:
    if isinstance(before, int) or isinstance(after, int):
        # Outlines of very long templates hold only the number of boxes.
        if before != after:
            yield _("%(where)s, boxes") % {"where": place_name}, _number_of(before), _number_of(after)
        return
    old, new = _boxes_of(before), _boxes_of(after)
    if sorted(map(_make_key, old)) == sorted(map(_make_key, new)):
        if old != new:
            yield _("%(where)s, boxes") % {"where": place_name}, "", _("drawn in another order")
        return
    for former in list(old):
        if former in new:
            old.remove(former)
            new.remove(former)
    for former in old:
        same = next((box for box in new if _name_box(box) == _name_box(former)), None)
        if same is None:
            yield f"{place_name}, {_name_box(former)}", _locate_box(former), _("removed")
        else:
            new.remove(same)
            yield from _compare_members(f"{place_name}, {_name_box(former)}", former, same, skipped=())
    for added in new:
        yield f"{place_name}, {_name_box(added)}", "", _("added at %(place)s") % {"place": _locate_box(added)}


def _compare_members(
    place_name: str, old: Mapping[str, Any], new: Mapping[str, Any], skipped: tuple[str, ...]
) -> Iterator[FieldChange]:
    for names, verb, of in ((PLACE, _("moved"), _describe_spot), (SIZE, _("resized"), _describe_extent)):
        if any(old.get(name) != new.get(name) for name in names):
            yield f"{place_name}, {verb}", of(old), of(new)
    for name in dict.fromkeys([*old, *new]):
        if name not in (*PLACE, *SIZE, *skipped) and old.get(name) != new.get(name):
            yield (
                f"{place_name}, {translated(LABELS.get(name, name))}",
                _describe_value(old.get(name)),
                _describe_value(new.get(name)) or _("as usual"),
            )


def _compare_pictures(before: Any, after: Any) -> Iterator[FieldChange]:
    for part, title in PICTURES.items():
        old, new = (_read_mapping(of, part) for of in (before, after))
        for name in dict.fromkeys([*old, *new]):
            if old.get(name) != new.get(name):
                change = _("replaced by another")
                if name not in old or name not in new:
                    change = _("added") if name not in old else _("removed")
                yield f"{_(title)} {name}", "", change


def _name_box(box: Mapping[str, Any]) -> str:
    kind = lower_first(translated(KINDS.get(str(box.get("Kind")), "Box")))
    called = _("%(kind)s box") % {"kind": kind}
    if box.get("Field"):
        return _("%(kind)s box of %(field)s") % {"kind": kind, "field": box["Field"]}
    return f"{called} “{_describe_value(box.get('Text'))[:40]}”" if box.get("Text") else called


def _page_summary(page: Any) -> str:
    return f"{_describe_extent(page, 'WidthMM', 'HeightMM')}, {_boxes_in_words(_count_boxes(page))}"


def _locate_box(box: Mapping[str, Any]) -> str:
    return f"{_describe_spot(box)}, {_describe_extent(box)}"


def _describe_spot(box: Mapping[str, Any]) -> str:
    return f"{_describe_value(box.get('X')) or '?'}, {_describe_value(box.get('Y')) or '?'} mm"


def _describe_extent(of: Mapping[str, Any], width: str = "Width", height: str = "Height") -> str:
    return f"{_describe_value(of.get(width)) or '?'} × {_describe_value(of.get(height)) or '?'} mm"  # noqa: RUF001 - the sign of sizes


def _describe_value(value: Any) -> str:
    return (_("yes") if value else _("no")) if isinstance(value, bool) else input_text(value)[:200]


def _page_name(index: int) -> str:
    return _("Page %(number)s") % {"number": index + 1}


def _boxes_in_words(count: int) -> str:
    return ngettext("%(count)s box", "%(count)s boxes", count) % {"count": count}


def _number_of(boxes: Any) -> str:
    return str(boxes if isinstance(boxes, int) else len(_boxes_of(boxes)))


def _count_boxes(page: Any) -> int:
    return int(_number_of(page.get("Boxes")))


def _boxes_of(boxes: Any) -> list[Any]:
    return [box for box in boxes if isinstance(box, dict)] if isinstance(boxes, list) else []


def _read_list(outline: Any, part: str) -> list[Any]:
    pages = outline.get(part) if isinstance(outline, dict) else None
    return [page for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []


def _read_mapping(outline: Any, part: str) -> dict[str, Any]:
    pictures = outline.get(part) if isinstance(outline, dict) else None
    return pictures if isinstance(pictures, dict) else {}


def _make_key(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
