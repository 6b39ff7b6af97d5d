import string
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from printing.imposition import marks

THREADS, ROUNDS = 8, 6


@pytest.fixture
def quick_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_texts_drawn_at_once_are_those_drawn_alone(quick_switches):
    text = string.ascii_letters + string.digits
    alone = marks.text_path(text, 7, 0, 0)

    for _ in range(ROUNDS):
        marks._open_font()[0].font.close()
        marks._open_font.cache_clear()
        together = Barrier(THREADS)

        def draw(_, together=together):
            together.wait()
            return marks.text_path(text, 7, 0, 0)

        with ThreadPoolExecutor(THREADS) as pool:
            assert set(pool.map(draw, range(THREADS))) == {alone}


def test_letter_is_drawn_once_for_all_texts(monkeypatch):
    marks._open_font()[0].font.close()
    marks._open_font.cache_clear()
    drawn, pen = [], marks._PathPen
    monkeypatch.setattr(marks, "_PathPen", lambda *given: drawn.append(given) or pen(*given))

    assert marks.text_path("ABBA", 7, 0, 0) != marks.text_path("BAAB", 9, 5, 5)

    assert len(drawn) == 2
