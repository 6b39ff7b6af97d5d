from django.http import HttpResponse


def text(response: HttpResponse) -> str:
    """The page as one line, however its template breaks it."""
    return " ".join(response.content.decode().split())
