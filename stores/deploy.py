from stores.catalog.services.refresh import refresh_renderings


def after_migrations() -> None:
    refresh_renderings()
