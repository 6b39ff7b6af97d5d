"""What a browser sends for a form of a page: the page's own fields with what was typed into them, and nothing else."""

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

NOT_SENT = frozenset({"submit", "button", "image", "reset", "file"})


class RenderedForm(HTMLParser):
    """The form with `form_id`, read off the page."""

    def __init__(self, html: str, form_id: str) -> None:
        super().__init__()
        self.fields: dict[str, str | list[str] | None] = {}
        self._wanted, self._is_inside, self._depth_of_template = form_id, False, 0
        self._select: dict[str, Any] | None = None
        self._option: dict[str, Any] | None = None
        self._textarea: str | None = None
        self.feed(html)
        if not self.fields:
            raise LookupError(f"The page has no form {form_id}.")

    def submission(self, typed: Mapping[str, Any]) -> dict[str, Any]:
        """With `typed` in the fields; None unticks a box. What the page does not offer cannot be filled in."""
        if unknown := typed.keys() - self.fields.keys():
            raise LookupError(f"The page has no field {', '.join(sorted(unknown))}.")
        return {name: value for name, value in {**self.fields, **typed}.items() if value is not None}

    def add_row(self, prefix: str) -> str:
        """Presses "Add another": the prefix of the new row, a copy of the empty one."""
        total = f"{prefix}-TOTAL_FORMS"
        number = int(str(self.fields[total]))
        for name, value in list(self.fields.items()):
            if name.startswith(f"{prefix}-__prefix__-"):
                self.fields[name.replace("__prefix__", str(number))] = value
        self.fields[total] = str(number + 1)
        return f"{prefix}-{number}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form":
            self._is_inside = attributes.get("id") == self._wanted
        if not self._is_inside or "disabled" in attributes:
            return
        if tag == "input":
            self._keep_input(attributes)
        elif tag == "select" and attributes.get("name"):
            self._select = {
                "name": attributes["name"],
                "options": [],
                "is_multiple": "multiple" in attributes,
            }
        elif tag == "option" and self._select is not None:
            self._option = {
                "value": attributes.get("value"),
                "text": "",
                "is_selected": "selected" in attributes,
            }
            self._select["options"].append(self._option)
        elif tag == "textarea" and attributes.get("name"):
            self._textarea = attributes["name"]
            self.fields[str(self._textarea)] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_inside = False
        elif tag == "option":
            self._option = None
        elif tag == "textarea":
            self._textarea = None
        elif tag == "select" and self._select is not None:
            self._keep_select(self._select)
            self._select = None

    def handle_data(self, data: str) -> None:
        if self._option is not None:
            self._option["text"] += data
        if self._textarea is not None:
            so_far = str(self.fields[self._textarea] or "")
            # A line break that follows the tag at once is none of the text.
            self.fields[self._textarea] = so_far + (data.removeprefix("\n") if not so_far else data)

    def _keep_input(self, attributes: Mapping[str, str | None]) -> None:
        kind, name = attributes.get("type") or "text", attributes.get("name")
        if not name or kind in NOT_SENT:
            return
        if kind in {"checkbox", "radio"}:
            self.fields.setdefault(name, None)
            if "checked" in attributes:
                self.fields[name] = attributes.get("value") or "on"
        else:
            self.fields[name] = attributes.get("value") or ""

    def _keep_select(self, select: Mapping[str, Any]) -> None:
        values = [
            option["text"] if option["value"] is None else option["value"] for option in select["options"]
        ]
        chosen = [
            value for value, option in zip(values, select["options"], strict=True) if option["is_selected"]
        ]
        if select["is_multiple"]:
            self.fields[select["name"]] = chosen
        else:
            self.fields[select["name"]] = chosen[-1] if chosen else values[0] if values else None


def form_of(response: Any, form_id: str) -> RenderedForm:
    return RenderedForm(response.content.decode(), form_id)
