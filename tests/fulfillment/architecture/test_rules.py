"""Rules that ruff does not have, in the manner of semgrep: each names what it forbids and where it may stand."""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("accounts", "applications", "delivery", "fulfillment", "printing", "production", "stores")
SOURCES = [
    path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if "migrations" not in path.parts
]
LOCK_NUMBER = re.compile(r"^(\w*LOCKS?) = (\w+)(?: << (\d+))?$", re.MULTILINE)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html")) + sorted((ROOT / "templates").rglob("*.txt"))

FORBIDDEN_CALLS = {
    "compile": "runs text as code",
    "SafeString": "lets markup through unescaped",
    "SafeText": "lets markup through unescaped",
}
FORBIDDEN_IMPORTS = {
    "pickle": set(),
    "marshal": set(),
    "shelve": set(),
    "dill": set(),
    "xmlrpc": set(),
    "telnetlib": set(),
    "ftplib": set(),
    # Writing it needs no defence; the readers of SVG files end where entities would be declared.
    "xml": {
        "stores/catalog/api/stores.py",
        "printing/preflight/svg.py",
        "printing/typesetting/artwork.py",
    },
    "requests": set(),
    "requests_hardened": set(),
    "httpx": set(),
    "urllib3": set(),
    # An outgoing request could go anywhere: these two clients send with sessions that check every address.
    "aiohttp": {
        "applications/webhooks/sending/client.py",
        "fulfillment/core/http/outgoing/sessions.py",
        "production/adapters/http.py",
    },
    "urllib.request": set(),
    # Asks the server it has just started, on this machine.
    "http.client": {"fulfillment/management/commands/up.py"},
    # Not for secrets: `secrets` is.
    "random": {
        "applications/webhooks/services/delivery_attempts.py",
        "applications/webhooks/sending/sender.py",
        "production/adapters/folder_returns.py",
        "production/adapters/sftp_returns.py",
        "production/jobs/services/outcomes.py",
        "stores/demo/calls.py",
    },
}
# Everything else writes its rows with what it has, so that no cell is run as a formula.
WRITES_CSV = {"fulfillment/core/csv_rows.py"}
# OAuth clients and print providers have no session; a provider's address holds its secret.
CSRF_EXEMPT = {"applications/oauth/views.py", "production/dispatch/views.py"}
SECRET_NAMES = re.compile(r"(^|_)(secret|password|signature|mac|token|pepper)$")
EXECUTES = {"execute", "executemany", "fetch_row", "fetch_rows"}


Nodes = dict[type[ast.AST], list[Any]]


def nodes_of(text: str) -> Nodes:
    """By their kinds: to walk through a file takes most of the time."""
    nodes: Nodes = defaultdict(list)
    for node in ast.walk(ast.parse(text)):
        nodes[type(node)].append(node)
    return nodes


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return ""


def calls(nodes: Nodes) -> Iterator[tuple[ast.Call, str]]:
    for node in nodes[ast.Call]:
        yield node, name_of(node.func)


def wrong_calls(nodes: Nodes) -> list[str]:
    errors = []
    for node, name in calls(nodes):
        # `compile` is a method of other things, too.
        called = name if name.endswith(".compile") else name.split(".")[-1]
        if called in FORBIDDEN_CALLS:
            errors.append(f"{node.lineno}: {called} {FORBIDDEN_CALLS[called]}")
        errors += [
            f"{node.lineno}: {keyword.arg}=False trusts everyone"
            for keyword in node.keywords
            if keyword.arg in {"verify", "verify_ssl", "check_hostname"}
            and not getattr(keyword.value, "value", True)
        ]
    return errors


def wrong_imports(nodes: Nodes, where: str) -> list[str]:
    errors = []
    for node in (*nodes[ast.Import], *nodes[ast.ImportFrom]):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            for forbidden, allowed in FORBIDDEN_IMPORTS.items():
                if (name == forbidden or name.startswith(f"{forbidden}.")) and where not in allowed:
                    errors.append(f"{node.lineno}: import of {forbidden}")
    return errors


def wrong_csv(nodes: Nodes) -> list[str]:
    return [
        f"{node.lineno}: {name} does not neutralise formulas"
        for node, name in calls(nodes)
        if name.split(".")[-1] in {"DictWriter"} or name == "csv.writer"
    ]


def is_constant_sql(node: ast.expr, constants: set[str]) -> bool:
    """Text of our own: a literal, a module's constant, or one made of such; `sql.SQL` quotes what it is given."""
    if isinstance(node, ast.Name | ast.Attribute):
        last = name_of(node).split(".")[-1]
        return last.isupper() or last in constants
    if isinstance(node, ast.Call) and (
        name_of(node.func) in {"sql.SQL", "SQL"} or name_of(node.func).endswith(".join")
    ):
        return True
    parts = parts_of(node)
    return parts is not None and all(is_constant_sql(part, constants) for part in parts)


def parts_of(node: ast.expr) -> list[ast.expr] | None:
    """What the text of an expression is made of; None for what may be any text."""
    if isinstance(node, ast.Constant):
        return []
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.JoinedStr):
        return [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [node.left, node.right]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace":
        return [node.func.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        # Of a text only what is constant, too; `sql.SQL` quotes the rest.
        composed = not isinstance(node.func.value, ast.Constant)
        arguments = [] if composed else [*node.args, *(keyword.value for keyword in node.keywords)]
        return [node.func.value, *arguments]
    return None


def local_sql(nodes: Nodes) -> set[str]:
    """Names that are only ever given constant text, and the parameters that hold statements by convention."""
    values_of: dict[str, list[ast.expr]] = {}
    for node in nodes[ast.Assign]:
        for target in node.targets:
            if isinstance(target, ast.Name):
                values_of.setdefault(target.id, []).append(node.value)
    for node in nodes[ast.For]:
        if isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Tuple):
            values_of.setdefault(node.target.id, []).extend(node.iter.elts)
    names: set[str] = set()
    while True:
        more = {
            name
            for name, values in values_of.items()
            if all(is_constant_sql(value, names) for value in values)
        } - names
        if not more:
            return names
        names |= more


# Where a statement is passed on, or made of names of our own models: each was read.
STATEMENTS_PASSED_ON = {
    "applications/webhooks/services/retention.py",  # `_run` gets the constants of its module
    "fulfillment/site/metrics.py",  # constants of the apps' modules `metrics`
    "fulfillment/core/db/repeatable.py",  # names of our models, quoted as Django's migrations do
    "fulfillment/core/db/prepared.py",  # hands on what the caller wrote; checked where it is called
    "fulfillment/core/audit/log.py",  # parts of `sql.SQL`, put together as text for pghistory
    "fulfillment/core/audit/guards.py",  # tables and columns of our models, quoted by `sql.Identifier`
    "fulfillment/local/schema.py",  # the dump that the release ships
    "applications/oauth/token_authentication.py",  # two forms, made of constants and a number of digests, and kept
    "stores/catalog/services/rows.py",  # tables named in its constant CHILDREN
}


def wrong_statements(nodes: Nodes) -> list[str]:
    constants = local_sql(nodes)
    errors = []
    for node, name in calls(nodes):
        if name.split(".")[-1] in EXECUTES and node.args and not is_constant_sql(node.args[0], constants):
            errors.append(f"{node.lineno}: {ast.unparse(node.args[0])[:60]} is no constant statement")
        if name.endswith((".objects.raw", ".objects.extra")):
            errors.append(f"{node.lineno}: {name} takes raw SQL")
    return errors


def wrong_comparisons(nodes: Nodes) -> list[str]:
    errors = []
    for node in nodes[ast.Compare]:
        if not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Constant) for side in sides):
            continue
        if any(SECRET_NAMES.search(name_of(side).split(".")[-1]) for side in sides):
            errors.append(
                f"{node.lineno}: {ast.unparse(node)} leaks the secret by its duration; use compare_digest"
            )
    return errors


SAYS = re.compile(
    r"(^|\.)(messages\.(add_message|debug|info|success|warning|error)|message_user|say_refused)$"
)
# Refusals that a page or a form shows: where their text stands among the arguments.
REFUSALS = re.compile(r"(^|\.)(ValidationError|PermissionDenied|Http404|IncorrectLookupParameters)$")
# The same, with the text second: after a field or a pattern.
REFUSALS_AT = re.compile(r"(^|\.)(add_error|\w+Validator)$")
TEXT_KEYWORDS = {"message", "error", "violation_error_message"}
# English for everyone, or until a page shows it: a reference, a field of the API, and settings that are validated as
# stored.
ENGLISH_REFUSALS = {
    "delivery/selection/request_fields.py",
    "fulfillment/core/reference/views.py",
    "production/adapters/folder_settings.py",
    "production/providers/services.py",
    "production/settings_form.py",
    "stores/orders/request_fields.py",
}


def has_own_words(node: ast.expr, names: Collection[str] = ()) -> bool:
    """A literal or a text put together, where no function translates it; `names` have such a text."""
    own = partial(has_own_words, names=names)
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.BinOp):
        return own(node.left)
    if isinstance(node, ast.IfExp):
        return own(node.body) or own(node.orelse)
    if isinstance(node, ast.Dict):
        return any(map(own, node.values))
    if isinstance(node, ast.List | ast.Tuple):
        return any(map(own, node.elts))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return own(node.func.value)
    return False


def shown_texts(node: ast.Call, name: str) -> list[ast.expr]:
    """The arguments that a page shows: of a refusal not its code."""
    if SAYS.search(name):
        return [*node.args, *(word.value for word in node.keywords)]
    if REFUSALS.search(name):
        texts = node.args[:1]
    elif REFUSALS_AT.search(name):
        texts = node.args[1:2]
    elif name.endswith("Constraint"):
        texts = []
    else:
        return []
    return [*texts, *(word.value for word in node.keywords if word.arg in TEXT_KEYWORDS)]


def wrong_messages(nodes: Nodes) -> list[str]:
    names = {
        target.id
        for node in nodes[ast.Assign]
        for target in node.targets
        if isinstance(target, ast.Name) and has_own_words(node.value)
    }
    return [
        f"{node.lineno}: {name} shows English in every language; wrap the sentence with _()"
        for node, name in calls(nodes)
        if any(has_own_words(text, names) for text in shown_texts(node, name))
    ]


def where(path: Path) -> str:
    return str(path.relative_to(ROOT))


# Two inputs of the same person, and a place in a text: no time to measure.
HARMLESS_COMPARISONS = {
    "accounts/management/commands/create_operator.py": "getpass.getpass('Once more: ') != password",
}


def broken_rules(path: Path) -> list[str]:
    text, name = path.read_text("utf-8"), where(path)
    nodes = nodes_of(text)
    errors = [*wrong_calls(nodes), *wrong_imports(nodes, name)]
    if name not in ENGLISH_REFUSALS:
        errors += wrong_messages(nodes)
    if name not in STATEMENTS_PASSED_ON:
        errors += wrong_statements(nodes)
    if name not in WRITES_CSV:
        errors += wrong_csv(nodes)
    harmless = HARMLESS_COMPARISONS.get(name)
    errors += [error for error in wrong_comparisons(nodes) if not harmless or harmless not in error]
    if "csrf_exempt" in text and name not in CSRF_EXEMPT:
        errors.append("csrf_exempt")
    return errors


# One test for all files: a test for each would cost more than the checks.
def test_sources_keep_the_rules():
    assert {where(path): errors for path in SOURCES if (errors := broken_rules(path))} == {}
    assert len(SOURCES) > 500


def wrong_of_imports(forbidden: str, nodes: Nodes) -> bool:
    return any(error.endswith(f"import of {forbidden}") for error in wrong_imports(nodes, ""))


def test_every_exception_is_needed():
    """A file that is gone, or no longer does what is allowed to it, would leave the exception to the next one."""
    texts = {where(path): path.read_text("utf-8") for path in SOURCES}
    exceptions = [
        (wrong_statements, STATEMENTS_PASSED_ON),
        (wrong_csv, WRITES_CSV),
        (wrong_messages, ENGLISH_REFUSALS),
        (wrong_comparisons, HARMLESS_COMPARISONS),
        *((partial(wrong_of_imports, forbidden), files) for forbidden, files in FORBIDDEN_IMPORTS.items()),
    ]
    stale = {name for rule, names in exceptions for name in names if not rule(nodes_of(texts.get(name, "")))}
    stale |= {name for name in CSRF_EXEMPT if "csrf_exempt" not in texts.get(name, "")}

    assert stale == set()


# What a pooler in transaction mode leaves on a connection of another client.
SESSION_STATE = re.compile(
    r"pg_(?:try_)?advisory_(?:lock|unlock)|[\"';]\s*(?:SET (?!LOCAL)[a-z_.]+ (?:=|TO)|RESET |LISTEN |PREPARE |DISCARD )"
    r"|set_config\([^)]*false|WITH HOLD|CREATE TEMP(?![^;]*ON COMMIT DROP)|chunked_cursor"
)
# These go past the pooler: docs/scaling.md.
PAST_THE_POOLER = {
    "fulfillment/core/audit/indexes.py": "part of `prepare`",
    "fulfillment/operations/backups/drills.py": "DATABASE_DIRECT_URL",
    "fulfillment/operations/backups/record_graph.py": "the restored copy alone",
    "fulfillment/local/schema.py": "the embedded server alone",
    "fulfillment/management/commands/worker.py": "DATABASE_DIRECT_URL",
    # Called in a transaction alone.
    "stores/catalog/selectors/products.py": "chunked_cursor",
}


def test_every_advisory_lock_has_a_number_of_its_own():
    """Two locks of one number would wait for each other."""
    owners = defaultdict(list)
    for path in SOURCES:
        for name, base, shift in LOCK_NUMBER.findall(path.read_text("utf-8")):
            owners[int(base, 0) << int(shift or 0)].append(f"{where(path)}: {name}")
    assert len(owners) > 8
    assert [names for names in owners.values() if len(names) > 1] == []


def test_no_state_of_a_session_is_kept_behind_a_pooler():
    files = {where(path) for path in SOURCES if SESSION_STATE.search(path.read_text("utf-8"))}

    assert files == set(PAST_THE_POOLER)


# Mail programs load no stylesheet, and no policy of ours holds in them.
ALLOWED_IN_TEMPLATES: set[tuple[str, str]] = {
    ("templates/mails/letter.html", "inline style"),
    ("templates/mails/letter.html", "style attribute"),
}


def broken_template_rules(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    forbidden = {
        r"\|\s*safe\b": "|safe",
        r"\|\s*safeseq\b": "|safeseq",
        r"autoescape\s+off": "autoescape off",
        r"<script(?![^>]*\bsrc=)": "inline script",
        r"<style\b": "inline style",
        r"\sstyle=[\"']": "style attribute",
        r"\son[a-z]+=[\"']": "event attribute",
        r"javascript:": "javascript: address",
        r"(?:\bsrc|<link[^>]*\bhref)=[\"']https?://": "address of elsewhere that loads",
    }
    errors = [
        error
        for pattern, error in forbidden.items()
        if (path.suffix == ".html" or error == "|safe") and re.search(pattern, text)
    ]
    return [error for error in errors if (where(path), error) not in ALLOWED_IN_TEMPLATES]


def test_templates_keep_the_rules():
    assert {where(path): errors for path in TEMPLATES if (errors := broken_template_rules(path))} == {}
    assert len(TEMPLATES) > 100


def test_rules_catch_what_they_forbid():
    bad = nodes_of(
        "import pickle\nfrom xmlrpc.client import ServerProxy\nfrom urllib.request import urlopen\nimport requests\n"
        "def f(cursor, name, secret, given):\n"
        "    compile(name)\n    SafeString(name)\n    re.compile(name)\n    django.SafeText(name)\n"
        "    get(name, verify=False)\n"
        "    cursor.execute(f'SELECT {name}')\n    cursor.execute('SELECT ' + name)\n"
        "    cursor.execute('SELECT %s' % name)\n    text = f'DELETE {name}'\n    cursor.execute(text)\n"
        "    csv.writer(name).writerow(given)\n    csv.DictWriter(name, given)\n"
        "    return secret == given\n"
        "    messages.error(request, 'Not saved.')\n    messages.info(request, f'{name}: saved.')\n"
        "    messages.success(request, '%s saved.' % name)\n    self.message_user(request, message='Saved.')\n"
        "    messages.success(request, _('Saved.') if name else 'Kept.')\n"
        "    messages.success(request, '{} saved.'.format(name))\n"
        "    raise Http404('No page.')\n    raise PermissionDenied(f'{name} may not.')\n    text = 'Too long.'\n"
        "    raise ValidationError(text, code='long')\n    self.add_error('name', 'Too long.')\n"
        "    raise ValidationError({'name': [f'{name} is too long.']})\n"
        "    raise IncorrectLookupParameters('No filter.')\n    RegexValidator(r'^a', 'Use a.')\n"
        "    CheckConstraint(name='positive', violation_error_message='Too small.')\n"
    )

    assert [error.split(":")[0] for error in wrong_calls(bad)] == ["6", "7", "9", "10"]
    assert {error.split(": ")[1] for error in wrong_imports(bad, "x.py")} == {
        "import of pickle",
        "import of xmlrpc",
        "import of urllib.request",
        "import of requests",
    }
    assert [error.split(":")[0] for error in wrong_statements(bad)] == ["11", "12", "13", "15"]
    assert len(wrong_comparisons(bad)) == 1
    assert len(wrong_csv(bad)) == 2
    assert [error.split(":")[0] for error in wrong_messages(bad)] == [
        *("19", "20", "21", "22", "23", "24"),
        *("25", "26", "28", "29", "30", "31", "32", "33"),
    ]
    good = nodes_of(
        "ROWS = 'SELECT 1'\ndef f(cursor, name):\n    cursor.execute(ROWS)\n    cursor.execute(f'{ROWS} LIMIT 1')\n"
        "    cursor.execute(sql.SQL('SELECT {x}').format(x=sql.Identifier(name)))\n"
        "    cursor.execute('SELECT %s', [name])\n"
        "    messages.success(request, _('%(name)s saved.') % {'name': name})\n    messages.error(request, name)\n"
        "    raise ValidationError(_('Too long.'), 'long')\n    raise Http404\n    form.add_error('name', str(name))\n"
        "    raise ValidationError({'name': [_('Too long.')]}, code='long')\n"
        "    RegexValidator('^a', _('Use a.'), 'a')\n"
        "    CheckConstraint(name='positive', violation_error_message=_('Too small.'))\n"
    )
    assert wrong_statements(good) == []
    assert wrong_messages(good) == []
