"""Programs of other languages that some tests need."""

import os
import shutil
import subprocess

import pytest


def require_javascript_library() -> None:
    """NODE_PATH names a folder with the npm package standardwebhooks, where there is one."""
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    result = subprocess.run(
        ["node", "-e", "require('standardwebhooks')"], env=os.environ, capture_output=True, check=False
    )
    if result.returncode:
        pytest.skip("the npm package standardwebhooks is not on NODE_PATH")
