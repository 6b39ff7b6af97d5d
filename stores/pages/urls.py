from django.urls import path

from stores.associations.pages.associations import show_stores, withdraw

urlpatterns = [
    path("applications/<str:application_id>/stores", show_stores, name="application-stores"),
    path(
        "applications/<str:application_id>/stores/<str:request_id>/withdraw",
        withdraw,
        name="association-withdraw",
    ),
]
