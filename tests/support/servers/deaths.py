"""Processes that are killed in the middle of their work."""

import os
import signal

import psycopg
from django.db import connection, connections


def dies_at(work, number):
    """Whether a process of its own is killed at its statement of this number, before it ends its work."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        left, execute = number, psycopg.Cursor.execute

        def execute_or_die(*arguments, **options):
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return execute(*arguments, **options)

        psycopg.Cursor.execute = execute_or_die
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    connection.ensure_connection()
    return os.WIFSIGNALED(status)
