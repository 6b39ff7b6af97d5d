#!/usr/bin/env python3
# ruff: noqa: E402 - the collector would look through all that is loaded, again and again
import gc

gc.disable()

import sys

try:
    import django
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import InterfaceError, OperationalError, ProgrammingError

    from fulfillment.core.db.connections import explanation_of
    from fulfillment.core.environment import is_set
    from fulfillment.core.errors import DomainError, in_one_line
    from fulfillment.local import development
    from fulfillment.local.postgres import PostgresUnavailable
except ImportError as missing:
    sys.exit(
        f"A package is missing here ({missing}). Run .venv/bin/python manage.py in the folder of the release; where "
        "there is no .venv yet, docs/operating/deploy.md has the steps, and a developer runs `make install`."
    )


def main() -> None:
    try:
        development.prepare(sys.argv)
        settings.INSTALLED_APPS  # noqa: B018 - a wrong setting ends here, as one sentence
    except PostgresUnavailable as error:
        sys.exit(str(error))
    except ImproperlyConfigured as error:
        # Without any, this is hardly a production machine.
        hint = "" if is_set("DATABASE_URL") else " On a development machine, `make run` sets everything."
        sys.exit(f"{error}{hint}")
    except OSError as error:
        sys.exit(
            f"{error.filename} cannot be read or written ({error.strerror}); "
            "give this user write access to the checkout, or run from a copy of your own."
        )
    try:
        django.setup()
        # What is loaded stays.
        gc.freeze()
        gc.enable()
        execute_from_command_line(sys.argv)
    except (OperationalError, InterfaceError) as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"The database is away or gave up, and the command with it: {in_one_line(error)}")
    except ProgrammingError as error:
        explanation = explanation_of(error)
        if not explanation or "--traceback" in sys.argv:
            raise
        sys.exit(explanation)
    except (ImproperlyConfigured, DomainError, PostgresUnavailable) as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(str(error))


if __name__ == "__main__":
    main()
