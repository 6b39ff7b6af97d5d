"""The sentences in Python sources that no call marks as a message."""

import ast
import re
from collections.abc import Callable, Iterator

MARKS = (
    "_",
    "gettext",
    "gettext_lazy",
    "gettext_noop",
    "ngettext",
    "ngettext_lazy",
    "pgettext",
    "pgettext_lazy",
)
# Read by nobody but programmers: logs, the reference of the API, and what a type makes impossible.
UNREAD_CALLS = re.compile(
    r"logger\.\w+|warnings\.warn|AssertionError|TypeError|RunSQL|\w*(Trigger|Serializer|OpenApi)\w*"
)
UNREAD_ARGUMENTS = {"description", "summary", "default_detail"}
MESSAGE_CALLS = re.compile(
    r".*(Invalid|Refus\w+|Error|Conflict|NotFound|Forbidden|Unprocessable|Un\w+able|Busy|Fault|TooMany\w+|TooComplex"
    r"|Failed|Unusable|Finding|Rule|checks.matching|write|fail|print|messages\.\w+|forms\.\w+Field|Text|add_argument|CannotStart|killed)(\.at)?$"
)
SENTENCE = re.compile(r"^\W?[A-Z{%].*\w.*[.?!…]$", re.DOTALL)
WORDS = re.compile(r"[A-Za-z]{2,}")


def text_of(node: ast.AST, fill: Callable[[ast.AST], str]) -> str | None:
    """A literal text, with what `fill` makes of each expression in it."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part, fill) or fill(getattr(part, "value", part)) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = text_of(left, fill), text_of(right, fill)
            if first is not None or second is not None:
                return f"{fill(left) if first is None else first}{fill(right) if second is None else second}"
    return None


def sentences_in(
    node: ast.AST, fill: Callable[[ast.AST], str], *, in_message: bool = False, words: int = 2
) -> Iterator[str]:
    """Every sentence below the node; of a message also what is no whole sentence."""
    if (text := text_of(node, fill)) is not None:
        text = " ".join(text.split())
        if len(WORDS.findall(text)) > words and " " in text and (in_message or SENTENCE.match(text)):
            yield text
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called in MARKS or UNREAD_CALLS.fullmatch(called):
            return
        in_message = in_message or bool(MESSAGE_CALLS.match(called))
    if isinstance(node, ast.keyword) and node.arg in UNREAD_ARGUMENTS:
        return
    for child in ast.iter_child_nodes(node):
        yield from sentences_in(child, fill, in_message=in_message, words=words)
