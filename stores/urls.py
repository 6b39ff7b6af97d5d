from django.urls import path

from stores.proofs.pages.files import serve_file
from stores.proofs.signed_urls import ASSETS, PROOFS

urlpatterns = [
    path(f"{kind}/<secret:token>/<str:name>", serve_file, {"kind": kind}, name=kind)
    for kind in (PROOFS, ASSETS)
]
