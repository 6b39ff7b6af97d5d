"""Every operation of the API, below /api/v1/: the `api.routes` of each app."""

from fulfillment.core.plugins import offered

app_name = "api"
# Reversed: the last app, stores, has the most frequent operations.
urlpatterns = [pattern for patterns in reversed(offered("api.routes", "urlpatterns")) for pattern in patterns]
