"""Below /api/v1/docs."""

from django.urls import path

from fulfillment.core.reference import views

app_name = "reference"
urlpatterns = [
    path("", views.show_start, name="start"),
    path("/operations/<str:operation_id>", views.show_operation, name="operation"),
    path("/events", views.show_events, name="events"),
    path("/events/<str:name>", views.show_event, name="event"),
    path("/guides/<str:slug>", views.show_guide, name="guide"),
    path("/errors/<str:code>", views.show_problem, name="problem"),
    path("/search", views.search, name="search"),
]
