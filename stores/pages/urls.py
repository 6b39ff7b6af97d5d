from django.urls import path

from stores.associations.pages.associations import show_stores, withdraw
from stores.proofs.pages.live import show_live_proof, show_picture

urlpatterns = [
    path("live-proof", show_live_proof, name="live-proof"),
    path("live-proof.png", show_picture, name="live-proof-picture"),
    path("applications/<str:application_id>/stores", show_stores, name="application-stores"),
    path(
        "applications/<str:application_id>/stores/<str:request_id>/withdraw",
        withdraw,
        name="association-withdraw",
    ),
]
