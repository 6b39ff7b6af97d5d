from django.urls import path

from production.dispatch.views import receive_postback, serve_print_file

urlpatterns = [
    path("production/postback/<slug:code>/<secret:secret>", receive_postback, name="production_postback"),
    path("production/file/<secret:token>/<str:name>", serve_print_file, name="production_file"),
]
