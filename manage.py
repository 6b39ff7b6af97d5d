#!/usr/bin/env python3
import sys

try:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from fulfillment import development
    from fulfillment.postgres import PostgresUnavailable
except ImportError as missing:
    sys.exit(f"A package is missing here ({missing}); run `make install`, then .venv/bin/python manage.py.")


def main() -> None:
    try:
        development.prepare(sys.argv)
    except (PostgresUnavailable, ImproperlyConfigured) as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(
            f"{error.filename} cannot be read or written ({error.strerror}); "
            "give this user write access to the checkout, or run from a copy of your own."
        )
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
