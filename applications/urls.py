from django.urls import include, path

urlpatterns = [path("", include("applications.oauth.urls"))]
