from django.urls import path

from accounts.api.users import UserViewSet

urlpatterns = [
    path("user", UserViewSet.as_view({"post": "create"}), name="user-list"),
    path("user/self", UserViewSet.as_view({"get": "me"}), name="user-self"),
    path("user/emails", UserViewSet.as_view({"post": "emails"}), name="user-emails"),
    path("user/<str:user_id>/roles", UserViewSet.as_view({"get": "roles"}), name="user-roles"),
]
