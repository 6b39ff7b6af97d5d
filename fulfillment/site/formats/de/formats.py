"""Writes dates as German business letters do: 22. Nov 2026, 13:11. Numbers are Django's own."""

DATE_FORMAT = "j. M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j. M Y, H:i"
SHORT_DATE_FORMAT = "D j. M"
SHORT_DATETIME_FORMAT = "j. M Y, H:i:s"
MONTH_DAY_FORMAT = "j. M"
YEAR_MONTH_FORMAT = "M Y"
