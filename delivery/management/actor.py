import getpass


def current_user() -> str:
    """The user name recorded for changes by commands."""
    try:
        return f"{getpass.getuser()} (command)"
    except (KeyError, OSError):  # a user without a name, as in some containers
        return "command"
