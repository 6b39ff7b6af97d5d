"""Returns freed memory of large bodies and pictures to the machine."""

import ctypes

# Numbers of mallopt in glibc.
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
LARGE_BLOCK = 256 * 1024
ARENAS = 2


def return_freed_memory() -> bool:
    """Gives blocks above 256 kB back as soon as they are freed; False where there is no glibc.

    By default glibc raises its threshold to the largest block that was freed, up to 32 MB, and keeps such blocks in an
    arena of each thread: a web process then holds the bodies of all its threads for good.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return all(mallopt(*one) for one in ((M_MMAP_THRESHOLD, LARGE_BLOCK), (M_ARENA_MAX, ARENAS)))
