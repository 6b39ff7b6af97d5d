"""Content security policies: of pages, of the console and of the API."""

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Beyond the pages' own policy: pictures chosen but not sent yet (blob:). The admin's Alpine is the build that
# evaluates nothing, and its colors are a stylesheet.
ADMIN_POLICY = PAGE_POLICY.replace("img-src 'self' data:", "img-src 'self' data: blob:")
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
