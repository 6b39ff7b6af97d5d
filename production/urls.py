from django.urls import path

from production.dispatch.pages import receive_postback, serve_print_file

urlpatterns = [
    path("production/postback/<slug:code>/<str:secret>", receive_postback, name="production_postback"),
    path("production/file/<str:token>/<str:name>", serve_print_file, name="production_file"),
]
