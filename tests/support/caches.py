"""What a process keeps between requests, by module: a test begins without the values of another."""

import sys

CACHES = {
    "accounts.pages.middleware": ("_users_of_sessions",),
    "accounts.rate_limits": ("_over",),
    "applications.registration.services.milestones": ("_known",),
    "applications.registration.services.notices": ("_near",),
    "applications.registration.services.request_log": ("_waiting", "_of_application", "_sizes"),
    "applications.registration.services.usage": ("_counts",),
    "fulfillment.core.http.refusal_page": ("_refused",),
    "stores.catalog.services.thumbnails": ("_cache",),
    "stores.catalog.services.usage": ("_counts",),
    "stores.editor.selectors": ("_cache",),
    "stores.orders.selectors.board": ("_cache",),
    "stores.proofs.services.artwork": ("_placed_cache",),
    "stores.proofs.services.live_proofs": ("_kept",),
    "stores.templates.selectors": ("_layouts",),
}


def clear_caches() -> None:
    for module, names in CACHES.items():
        if module in sys.modules:
            for name in names:
                getattr(sys.modules[module], name).clear()
