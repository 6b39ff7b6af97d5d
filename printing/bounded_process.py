"""What the processes of `printing.bounded` run. It loads little: a start costs what it loads."""

import json
import os
import resource
import sys
from importlib import import_module
from pathlib import Path

# Added to the niceness of the process that starts it: cheap requests get the processor first.
NICENESS = 10


def limit_process(*, niceness: int, memory: int, processor: int | None = None) -> None:
    """Limits this process before it reads a file of others; it ends where the system forbids that."""
    try:
        os.nice(niceness)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if processor:
            resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 1))
    except (OSError, ValueError) as error:
        raise SystemExit(os.EX_OSERR) from error


def _serve_task() -> None:
    request = json.loads(sys.stdin.buffer.read())
    limit_process(niceness=NICENESS, memory=request["memory"], processor=request["processor"])
    module, _, function = request["task"].partition(":")
    reply = getattr(import_module(module), function)(Path(request["folder"]), **request["options"])
    sys.stdout.write(json.dumps(reply))


if __name__ == "__main__":
    _serve_task()
