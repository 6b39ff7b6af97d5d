"""Limits of what is parsed of a request before anything looks at what it says; the proxy has its own before.

They are checked by lengths and counts alone, which costs microseconds for any input.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple

# Four times the space for a hundred postal codes and all parameters.
MAX_ADDRESS_LENGTH, MAX_QUERY_LENGTH, MAX_PARAMETERS = 2048, 16_384, 500
# Names and values of all headers in total, without the URL.
MAX_HEAD_LENGTH, MAX_HEADERS = 16_384, 100
# The size of one header, and its parts, which are divided by commas or semicolons.
MAX_HEADER_LENGTH, MAX_PARTS = 8192, 100
MAX_LENGTHS = {"CONTENT_TYPE": 300, "CONTENT_LENGTH": 19, "HTTP_ACCEPT": 1000, "HTTP_AUTHORIZATION": 2000}
# The parts of a Content-Type that Django fails at: the encodings of RFC 2231, and charsets that are none of text, or
# let through what the address may not have. URL-encoded forms with another charset than UTF-8 are refused.
ENCODED_PARAMETER = re.compile(r";[^;=]*\*[^;]*")
OTHER_CHARSET = re.compile(r';\s*charset\s*=(?!\s*"?utf-?8)[^;]*', re.IGNORECASE)


class HeadRefusal(NamedTuple):
    status: int
    code: str
    message: str


def shorten_head(environ: MutableMapping[str, Any]) -> None:
    """Cuts the two parts that Django takes apart before any middleware runs; what is cut is refused afterwards.

    It needs time that grows with the square of their length: more than a minute for a Content-Type of 390 kB. And some
    parameters of a Content-Type make it fail. As it was sent, the Content-Type is in SENT_CONTENT_TYPE.
    """
    path, content_type = environ.get("PATH_INFO", ""), environ.get("CONTENT_TYPE", "")
    # WSGI counts up to four characters for one.
    if len(path) > 4 * MAX_ADDRESS_LENGTH:
        environ["PATH_INFO"] = path[: MAX_ADDRESS_LENGTH + 1].encode("ascii", "replace").decode()
    if len(content_type) > (longest := MAX_LENGTHS["CONTENT_TYPE"]):
        environ["CONTENT_TYPE"] = content_type[: longest + 1].replace(";", ",")
    elif ";" in content_type:
        environ["SENT_CONTENT_TYPE"] = content_type
        readable = ENCODED_PARAMETER.sub("", content_type)
        environ["CONTENT_TYPE"] = OTHER_CHARSET.sub("; charset=latin-1", readable)


def head_refusal(meta: Mapping[str, Any], path: str) -> HeadRefusal | None:
    """The exceeded limit of a request's head; None if it is accepted."""
    query = meta.get("QUERY_STRING", "")
    for part, text, most in (("path", path, MAX_ADDRESS_LENGTH), ("query", query, MAX_QUERY_LENGTH)):
        if len(text) > most:
            message = f"The address is too long: its {part} has more than {most:,} characters."
            return HeadRefusal(414, "address_too_long", message)
    if (parameters := query.count("&") + 1) > MAX_PARAMETERS:
        message = f"The query has {parameters:,} parameters; at most {MAX_PARAMETERS} are read."
        return HeadRefusal(400, "too_many_parameters", message)
    if message := _problem_of_headers(meta):
        return HeadRefusal(431, "headers_too_large", message)
    return None


def _problem_of_headers(meta: Mapping[str, Any]) -> str:
    headers = {name: value for name, value in meta.items() if name.startswith("HTTP_") or name in MAX_LENGTHS}
    if len(headers) > MAX_HEADERS:
        return f"The request has {len(headers)} headers; at most {MAX_HEADERS} are read."
    for name, value in headers.items():
        header = name.removeprefix("HTTP_").replace("_", "-").title()
        if len(value) > (longest := MAX_LENGTHS.get(name, MAX_HEADER_LENGTH)):
            return f"The header {header} has more than {longest:,} characters."
        if value.count(",") + value.count(";") >= MAX_PARTS:
            return f"The header {header} has more than {MAX_PARTS} parts."
    if (size := sum(map(len, headers)) + sum(map(len, headers.values()))) > MAX_HEAD_LENGTH:
        return f"The headers have {size:,} characters together; at most {MAX_HEAD_LENGTH:,} are read."
    return ""
