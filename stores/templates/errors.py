"""Translates errors of the typesetter into errors of the service."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from fulfillment.core.errors import Fault, Invalid
from printing.typesetting import Problem, RenderingFailed, RenderingTimedOut, ValuesInvalid
from stores.templates.selectors import TemplateUnusable

logger = logging.getLogger("stores.proofs")

TOO_SLOW = (
    "These values take too long to be laid out. Send shorter texts or smaller pictures;"
    " the same values would fail again."
)


@contextmanager
def typesetting_errors() -> Iterator[None]:
    """Raises the service's error for an error of the typesetter."""
    try:
        yield
    except ValuesInvalid as error:
        raise values_invalid(error.problems) from error
    except RenderingTimedOut as error:
        # Not RenderersBusy: a retry with the same values would fail again and block a renderer for as long.
        raise Invalid.at("", "rendering_too_slow", TOO_SLOW) from error
    except RenderingFailed as error:
        logger.error("A template could not be rendered: %s", error)
        raise TemplateUnusable from error


def values_invalid(problems: Iterable[Problem]) -> Invalid:
    faults = [Fault(problem.pointer, problem.code, problem.message) for problem in problems]
    message = faults[0].message if len(faults) == 1 else f"{len(faults)} values cannot be printed."
    return Invalid(message, code="values_invalid", faults=faults)
