from tests.benchmarks.peer_settings import *  # noqa: F403

ROOT_URLCONF = "tests.benchmarks.ninja_urls"
