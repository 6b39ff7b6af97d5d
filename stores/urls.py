from django.urls import path

from stores.proofs.links import ASSETS, PROOFS
from stores.proofs.pages import serve_file

urlpatterns = [
    path(f"{kind}/<secret:token>/<str:name>", serve_file, {"kind": kind}, name=kind)
    for kind in (PROOFS, ASSETS)
]
