from django.http import HttpResponse


def pdf_answer(content: bytes, name: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}"'
    return HttpResponse(content, content_type="application/pdf", headers={"Content-Disposition": disposition})
