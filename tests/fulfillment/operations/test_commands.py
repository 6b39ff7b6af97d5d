"""What `manage.py` says when the database is away."""

import json
import subprocess
import sys

import pytest
from django.core.management import get_commands

from tests.support.deployment.variables import SECRETS
from tests.support.servers.live_server import ROOT, served_environment

OURS = ("accounts", "delivery", "fulfillment", "stores")
ARGUMENTS: dict[str, list[str]] = {
    "advance_demo_orders": [],
    "backup": ["{folder}/backup"],
    "create_operator": ["olivia", "--email", "olivia@example.com"],
    "demo": [],
    "eddm": ["list"],
    "erase_recipient": ["--email", "ada@example.com"],
    "erase_user": ["ada"],
    "export_catalog": ["associated"],
    "export_user_data": ["ada", "{folder}/ada.zip"],
    "import_catalog": ["{folder}/catalog.json"],
    "import_eddm": ["{folder}/routes.csv"],
    "import_order_status": ["{folder}/orders.csv"],
    "load_demo": [],
    "move_files": ["s3"],
    "migrate": [],
    "prepare": [],
    "prune": [],
    "refresh_renderings": [],
    "restore_record": ["stores.Store", "external_id=demo", "--copy", "127.0.0.1:9"],
    "rotate_secrets": ["--check"],
    "turn_off_two_factor": ["ada"],
}
# These need no database to begin: they read a folder first, send a mail, start a server of their own, or wait for it.
NOT_TRIED = {"drill", "restore", "sendtestemail", "up", "worker"}
# All in one process: each on its own would take as long as all of them do.
PROGRAM = """
import contextlib, io, json, sys
import django, manage

# The log goes to the process, and what a command prints to its own text.
django.setup()
printed = {}
for name, arguments in json.loads(sys.argv[1]).items():
    sys.argv, wrote = ["manage.py", name, *arguments], io.StringIO()
    try:
        with contextlib.redirect_stderr(wrote), contextlib.redirect_stdout(sys.__stderr__):
            manage.main()
    except SystemExit as ended:
        # As Python itself does with a text.
        said = [ended.code, 1] if isinstance(ended.code, str) else ["", ended.code]
        printed[name] = [wrote.getvalue() + said[0], said[1]]
print(json.dumps(printed))
"""


@pytest.mark.slow
def test_database_that_is_away_is_one_clear_line_of_every_command(tmp_path):
    """Neither it nor the log shows a secret, at the lowest level."""
    known = {name for name, app in get_commands().items() if app in OURS}
    assert known - NOT_TRIED == set(ARGUMENTS)
    (tmp_path / "catalog.json").write_text("{}")
    (tmp_path / "routes.csv").write_text("")
    (tmp_path / "orders.csv").write_text("order number,status\n10000001,Shipped\n")
    environment = served_environment("http://127.0.0.1:9", "postgresql://nobody:hidden@127.0.0.1:9/none")
    environment |= {"S3_BUCKET": "prints", "LOG_LEVEL": "DEBUG"}
    requested = {name: [word.format(folder=tmp_path) for word in words] for name, words in ARGUMENTS.items()}

    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(requested)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    reported = json.loads(result.stdout)
    assert set(reported) == set(ARGUMENTS)
    for name, (line, code) in reported.items():
        assert code == 1, name
        assert "database" in line, name
        assert "refused" in line, name
        assert len(line.strip().splitlines()) == 1, line
    secrets = ["hidden", *(environment[name] for name in SECRETS)]
    assert [secret for secret in secrets if secret in result.stdout + result.stderr] == []


@pytest.mark.slow
def test_stack_is_there_for_who_asks():
    environment = served_environment("http://127.0.0.1:9", "postgresql://nobody@127.0.0.1:9/none")
    command = [sys.executable, "manage.py", "prune", "--dry-run", "--traceback"]

    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert result.returncode == 1
    assert "Traceback" in result.stderr
