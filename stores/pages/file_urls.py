from django.urls import path

from stores.addresses import ASSETS, PROOFS
from stores.pages.files import serve_file

urlpatterns = [
    path(f"{kind}/<str:token>/<str:name>", serve_file, {"kind": kind}, name=kind) for kind in (PROOFS, ASSETS)
]
