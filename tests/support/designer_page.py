from playwright.sync_api import Page


def ready(designer: Page) -> None:
    designer.wait_for_selector(".ds[data-ready]")
    designer.wait_for_selector(".ds-picture[src]")
