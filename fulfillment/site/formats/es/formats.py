"""Short months without "de": 22 nov 2026, 13:11. Numbers are Django's own, with a decimal comma or point by country."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
SHORT_DATE_FORMAT = "D j M"
SHORT_DATETIME_FORMAT = "j M Y, H:i:s"
MONTH_DAY_FORMAT = "j M"
YEAR_MONTH_FORMAT = "M Y"
