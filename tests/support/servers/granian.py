"""The command of the web server, as in docs/deploy."""

import sys


def granian_command(port: int, *, host: str = "127.0.0.1", workers: int, threads: int) -> list[str]:
    """Without the application, which comes last, after more options."""
    values = {"host": host, "port": port, "workers": workers, "blocking-threads": threads}
    options = [word for name, value in values.items() for word in (f"--{name}", str(value))]
    fixed = ["--interface", "wsgi", "--no-ws", "--http", "1", "--log-level", "warning"]
    fixed += ["--workers-kill-timeout", "30"]
    return [sys.executable, "-m", "granian", *fixed, *options]
