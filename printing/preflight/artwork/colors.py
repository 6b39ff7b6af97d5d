"""The colors of a PDF, and the plates that they print on."""

from dataclasses import dataclass, replace
from typing import Any

import pikepdf

from printing.preflight.artwork.layers import PROCESS_PLATES
from printing.press.paints import COMPONENTS, GREY, OF_CMYK, OF_RGB
from printing.press.repaint import KINDS_OF_DEVICES, kind_of
from printing.press.streams import DEVICES, PROCESS

WHITES = {GREY: (1.0,), OF_RGB: (1.0, 1.0, 1.0), OF_CMYK: (0.0, 0.0, 0.0, 0.0)}


@dataclass(frozen=True, slots=True)
class Color:
    """`values` are empty for patterns; `spot` names the plates of a spot colour. One number of registration stands for
    each process ink. `is_device` of inks that no profile describes."""

    kind: str | None = GREY
    values: tuple[float, ...] = (0.0,)
    spot: str = ""
    is_registration: bool = False
    is_device: bool = False

    @property
    def plates(self) -> frozenset[str] | None:
        """The plates with ink; None if unknown."""
        if self.is_registration or (self.kind is None and not self.spot):
            return None
        if self.spot or self.kind is None:
            return frozenset(self.spot.split("\n"))
        if self.values == WHITES.get(self.kind):
            return frozenset()
        return (
            frozenset(name for name, value in zip(PROCESS_PLATES, self.values, strict=False) if value)
            if self.kind == OF_CMYK
            else frozenset(PROCESS_PLATES)
        )


BLACK = Color()


def colored(name: str, operands: Any, resources: Any, before: Color) -> Color:
    if (kind := DEVICES.get(name.encode())) is not None:
        return Color(kind, tuple(float(one) for one in operands), is_device=True)
    if name in {"cs", "CS"}:
        key = str(operands[0])
        space = resources.get("/ColorSpace", pikepdf.Dictionary()).get(key)
        if _is_registration(space):
            return Color(OF_CMYK, (1.0,) * 4, is_registration=True)
        kind = KINDS_OF_DEVICES.get(key) if space is None else kind_of(space)
        black = (0.0, 0.0, 0.0, 1.0) if kind == OF_CMYK else (0.0,) * COMPONENTS.get(kind or "", 0)
        return Color(kind, black, spots_of(space), is_device=not isinstance(space, pikepdf.Array))
    numbers = [one for one in operands if not isinstance(one, pikepdf.Name)]
    if before.is_registration:
        numbers = numbers[:1] * 4
    return replace(before, values=tuple(float(one) for one in numbers) if before.kind else ())


def replaced_plates(color: Color, keeps_zeros: bool) -> frozenset[str] | None:
    """The plates that are painted although the color overprints: with OPM 1 alone, zeros of DeviceCMYK leave theirs."""
    if color.spot or color.plates is None:
        return color.plates
    if keeps_zeros and color.is_device and color.kind == OF_CMYK:
        return color.plates
    return frozenset(PROCESS_PLATES)


def _is_registration(space: Any) -> bool:
    return isinstance(space, pikepdf.Array) and [str(one) for one in space[:2]] == ["/Separation", "/All"]


def spots_of(space: Any) -> str:
    """The plates of a colour space beside those of the process, by line."""
    if not isinstance(space, pikepdf.Array) or len(space) < 2:
        return ""
    names = [space[1]] if space[0] == "/Separation" else space[1] if space[0] == "/DeviceN" else []
    return "\n".join(name for name in (str(one)[1:] for one in names) if name not in PROCESS)
