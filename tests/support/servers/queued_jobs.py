"""Queued work, done in the test itself."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from applications.registration.services.notices import MAIL_TASK

BEGIN = "UPDATE procrastinate_jobs SET status = 'doing' WHERE id = %s AND status = 'todo'"
AGAIN = "UPDATE procrastinate_jobs SET status = 'todo' WHERE id = %s"


def work_off(task_name: str) -> int:
    """Does here and now what is queued under this name; returns how many jobs that were."""
    count = 0
    for job in ProcrastinateJob.objects.filter(task_name=task_name, status="todo").order_by("id"):
        with connection.cursor() as cursor:
            cursor.execute(BEGIN, [job.pk])
            if not cursor.rowcount:
                continue
            try:
                app.tasks[task_name](**job.args)
            except Exception:
                cursor.execute(AGAIN, [job.pk])
                raise
            cursor.execute("DELETE FROM procrastinate_jobs WHERE id = %s", [job.pk])
        count += 1
    return count


@contextmanager
def working(*task_names: str) -> Iterator[None]:
    """Does what is queued under these names, in a thread, as a worker beside the service does."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(0.1):
            for name in task_names:
                work_off(name)
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        is_over.set()
        worker.join()


def mail_owners(*, application, subject: str, text: str) -> None:
    app.configure_task(MAIL_TASK).defer(application_id=str(application.pk), subject=subject, text=text)
