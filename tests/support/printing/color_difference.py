"""The color difference CIEDE2000 (Sharma, Wu and Dalal, 2005)."""

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import numpy as np


def delta_e_2000(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (hypot(a1, b1) + hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - sqrt(mean**7 / (mean**7 + 25**7)))
    c1, c2 = hypot(a1 * stretch, b1), hypot(a2 * stretch, b2)
    h1, h2 = (degrees(atan2(b, a * stretch)) % 360 if a or b else 0 for a, b in ((a1, b1), (a2, b2)))
    turn = 0 if not c1 * c2 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn) / 2)
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    angle = h1 + h2 if not c1 * c2 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * cos(radians(angle - 30))
        + 0.24 * cos(radians(2 * angle))
        + 0.32 * cos(radians(3 * angle + 6))
        - 0.2 * cos(radians(4 * angle - 63))
    )
    sl = 1 + 0.015 * (light - 50) ** 2 / sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rotation = (
        -2 * sqrt(chroma**7 / (chroma**7 + 25**7)) * sin(radians(60 * exp(-(((angle - 275) / 25) ** 2))))
    )
    lightness, chromas, hues = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return sqrt(lightness**2 + chromas**2 + hues**2 + rotation * chromas * hues)


def differences(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """For each pixel of two pictures in Lab; equal pairs are computed once."""
    pairs = np.round(np.concatenate([one.reshape(-1, 3), other.reshape(-1, 3)], axis=1), 1)
    unique, places = np.unique(pairs, axis=0, return_inverse=True)
    distances = np.array([delta_e_2000(tuple(pair[:3]), tuple(pair[3:])) for pair in unique.tolist()])
    return distances[places.ravel()]
