import getpass


def current_user() -> str:
    """Who a command's changes are recorded for."""
    try:
        return f"{getpass.getuser()} (command)"
    except (KeyError, OSError):  # a user without a name, as in some containers
        return "command"
