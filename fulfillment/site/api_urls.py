"""Every operation of the API, below /api/v1/: the `api_urls` of each app."""

from fulfillment.core.plugins import offered

app_name = "api"
# Reversed: the last app, stores, has the most frequent operations.
urlpatterns = [pattern for patterns in reversed(offered("api_urls", "urlpatterns")) for pattern in patterns]
