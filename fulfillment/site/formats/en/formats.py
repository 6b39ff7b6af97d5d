"""Date formats where the reader's locale has no others, unambiguous in every country: 22 Nov 2026, 13:11."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
SHORT_DATE_FORMAT = "D j M"
# To the second, for logs and exchanges.
SHORT_DATETIME_FORMAT = "j M Y, H:i:s"
MONTH_DAY_FORMAT = "j M"
YEAR_MONTH_FORMAT = "M Y"
