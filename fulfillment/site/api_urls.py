"""Every operation of the API, below /api/v1/: the `api.routes` of each app."""

from fulfillment.core.plugins import offered

app_name = "api"
# Tried in this order: stores, whose operations are called most, are the last app.
urlpatterns = [pattern for patterns in reversed(offered("api.routes", "urlpatterns")) for pattern in patterns]
