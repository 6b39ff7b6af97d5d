"""Limits, most of them constants, and how long and how much is kept; `fulfillment.settings` takes all of these."""

import os

from fulfillment.core import environment

environment.refuse_former_names(
    renamed={
        "PROOF_DAYS_KEPT": "PROOF_RETENTION_DAYS",
        "ASSET_DAYS_KEPT": "ASSET_RETENTION_DAYS",
        "ADDRESS_DAYS_KEPT": "ADDRESS_RETENTION_DAYS",
        "RENDERINGS_AT_ONCE": "RENDERINGS_CONCURRENCY",
        "PROOF_MARK": "PROOF_WATERMARK",
        "CLIENT_PACKAGES": "CLIENT_DOWNLOADS",
    },
    removed=(
        "IMPORT_DAYS_KEPT",
        "IMPORT_RETENTION_DAYS",
        "LANE_WAIT_SECONDS",
        "ORDERS_AT_ONCE",
        "LARGE_ORDERS_AT_ONCE",
        "PASSWORDS_AT_ONCE",
        "PICTURES_AT_ONCE",
        "FILES_AT_ONCE",
        "SELECTIONS_AT_ONCE",
        "SELECTIONS_PER_CALLER",
        "APPLICATIONS_PER_USER",
        "ACCOUNTS_PER_USER",
        "LIVE_PROOFS_PER_MINUTE",
        "WEBHOOK_CONNECTIONS_PER_APPLICATION",
    ),
)

# The default for a subscription; each may have its own value.
REQUESTS_PER_MINUTE = 600
# Proofs, prices, pictures and demo orders of one user on the pages of products in the portal.
PRODUCT_PAGE_REQUESTS_PER_MINUTE = 120
# A page draws one letter after the other: ten a second.
DRAFTS_PER_MINUTE = 600
# Pages and forms of one person, and of one address without a session; five times as many pictures.
PAGES_PER_MINUTE = 600
ADDRESS_PAGES_PER_MINUTE = 300
# Forms of the portal with more than 256 kB, of one user.
UPLOADS_PER_MINUTE = 60
# Requests of one client address without valid credentials.
ADDRESS_REQUESTS_PER_MINUTE = environment.integer("ADDRESS_REQUESTS_PER_MINUTE", 600, minimum=1)
# Refused requests of one client address at /oauth/token.
TOKEN_FAILURES_PER_MINUTE = environment.integer("TOKEN_FAILURES_PER_MINUTE", 30, minimum=1)
# Limited because each application has REQUESTS_PER_MINUTE of its own.
APPLICATIONS_PER_USER = 100
# Each within 15 minutes.
SIGN_IN_TRIES_PER_ACCOUNT = environment.integer("SIGN_IN_TRIES_PER_ACCOUNT", 10, minimum=1)
SIGN_IN_TRIES_PER_ADDRESS = environment.integer("SIGN_IN_TRIES_PER_ADDRESS", 50, minimum=1)
SECOND_STEPS_PER_ACCOUNT = 5
SIGN_UPS_PER_ADDRESS, RESETS_PER_ADDRESS = 20, 20
# Mails to one address that people cause without a session, or for an address that is not confirmed.
MAILS_PER_HOUR, MAILS_PER_DAY = 3, 10
# Accounts that one user creates over the API in a day.
ACCOUNTS_PER_USER = 20
# Mails in a day to addresses that a user entered.
INVITATIONS_PER_USER, INVITATIONS_PER_EMAIL, EMAIL_CHANGES_PER_USER = 100, 5, 10
# Mails of one kind to one user; further notifications appear in the portal only.
NOTIFICATION_MAILS_PER_HOUR = 20

# Limits of expensive work in each web process (fulfillment.core.concurrency_limits). WEB_THREADS must equal
# --blocking-threads of the web server: limited work holds at most three quarters of them.
WEB_THREADS = environment.integer("WEB_THREADS", 8, minimum=1, maximum=256)
# *_CONCURRENCY count for each process; one caller gets one less.
RENDERINGS_CONCURRENCY = environment.integer(
    "RENDERINGS_CONCURRENCY", (os.cpu_count() or 1) + 1, minimum=1, maximum=256
)
# Live proofs of all signed-out visitors of the start page together, and of one address in a minute.
LIVE_PROOFS_CONCURRENCY = 1
LIVE_PROOFS_PER_MINUTE = 120
# Pages of proofs in a width of their own, drawn for one address.
WIDE_PAGES_PER_MINUTE = 120
# Pages of people, and of addresses without a session. With two processes a person has 6 at once, an address 4.
PAGES_CONCURRENCY, VISITOR_PAGES_CONCURRENCY = 4, 3
PAGE_WAIT_SECONDS = 2
# JSON bodies of more than 256 kB that are parsed.
LARGE_BODIES_CONCURRENCY = 1
ORDERS_CONCURRENCY = 4
LARGE_ORDERS_CONCURRENCY = 2
LONG_ORDERS_CONCURRENCY = 2
PASSWORDS_CONCURRENCY = 2
CHANGES_CONCURRENCY = 2
PICTURES_CONCURRENCY = 2
FILES_CONCURRENCY = 2
BATCHES_CONCURRENCY = 2
SELECTIONS_CONCURRENCY = 2
# Requests that wait for events: a quarter of the threads, so that none waits where there are fewer than 4.
EVENT_WAITS_CONCURRENCY = WEB_THREADS // 4
# EDDM selections of one caller that are neither ordered nor expired, and the routes in all of them.
SELECTIONS_PER_CALLER = 2_000
SELECTED_ROUTES_PER_CALLER = 500_000
# How long a request above such a limit waits before it is refused.
CONCURRENCY_WAIT_SECONDS = 5

# API calls are counted in memory and written in this interval, which a killed process may lose; 0 for never.
USAGE_FLUSH_SECONDS = 5

# Signed URLs of proofs are valid for 31 days, and a use is recorded once a day.
PROOF_MINIMUM_RETENTION_DAYS = 33
PROOF_RETENTION_DAYS = environment.integer(
    "PROOF_RETENTION_DAYS",
    45,
    minimum=PROOF_MINIMUM_RETENTION_DAYS,
    maximum=3650,
)
# Uploaded pictures that were never ordered are kept so long after their last use in a proof.
ASSET_RETENTION_DAYS = environment.integer(
    "ASSET_RETENTION_DAYS",
    90,
    minimum=PROOF_MINIMUM_RETENTION_DAYS,
    maximum=3650,
)
# Print-ready PDFs of each application, and of each person on the service's own pages.
DOCUMENT_STORAGE_MB = environment.integer("DOCUMENT_STORAGE_MB", 10_000, minimum=100, maximum=10_000_000)
# The recipient of a finished order is kept so long; 0 keeps it for ever.
ADDRESS_RETENTION_DAYS = environment.integer("ADDRESS_RETENTION_DAYS", 0, maximum=36500)
# Uploaded import files and the problems found in them are kept so long.
IMPORT_RETENTION_DAYS = 90
# Exchanges with print providers are kept so long after their end.
EXCHANGE_RETENTION_DAYS = environment.integer("EXCHANGE_RETENTION_DAYS", 180, minimum=1, maximum=3650)
# Test orders and test quotes are kept so long after their creation.
TEST_RETENTION_DAYS = environment.integer("TEST_RETENTION_DAYS", 30, minimum=1, maximum=3650)
# An application's request log is kept so long; 0 records nothing.
REQUEST_LOG_DAYS = environment.integer("REQUEST_LOG_DAYS", 7, maximum=90)
