"""How long, and how much, is kept; `fulfillment.settings` takes all of these."""

from fulfillment.core import environment

# Signed URLs of proofs are valid for 31 days, and a use is recorded once a day.
PROOF_MINIMUM_RETENTION_DAYS = 33
PROOF_RETENTION_DAYS = environment.integer(
    "PROOF_RETENTION_DAYS",
    45,
    minimum=PROOF_MINIMUM_RETENTION_DAYS,
    maximum=3650,
)
# Of uploaded pictures that were never ordered, from their last use in a proof.
ASSET_RETENTION_DAYS = environment.integer(
    "ASSET_RETENTION_DAYS",
    90,
    minimum=PROOF_MINIMUM_RETENTION_DAYS,
    maximum=3650,
)
# Of print-ready PDFs, for each application, and for each person on the service's own pages.
DOCUMENT_STORAGE_MB = environment.integer("DOCUMENT_STORAGE_MB", 10_000, minimum=100, maximum=10_000_000)
# Of the recipient of a finished order; 0 keeps it for ever.
ADDRESS_RETENTION_DAYS = environment.integer("ADDRESS_RETENTION_DAYS", 0, maximum=36500)
# Of uploaded import files and of the problems found in them.
IMPORT_RETENTION_DAYS = 90
# Of exchanges with print providers, from their end.
EXCHANGE_RETENTION_DAYS = environment.integer("EXCHANGE_RETENTION_DAYS", 180, minimum=1, maximum=3650)
# Of test orders and test quotes, from their creation.
TEST_RETENTION_DAYS = environment.integer("TEST_RETENTION_DAYS", 30, minimum=1, maximum=3650)
# Of the request log of an application; 0 records nothing.
REQUEST_LOG_DAYS = environment.integer("REQUEST_LOG_DAYS", 7, maximum=90)
