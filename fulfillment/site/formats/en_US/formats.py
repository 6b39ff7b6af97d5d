"""Month first and a clock of twelve hours: Nov 22, 2026, 1:11 PM."""

DATE_FORMAT = "M j, Y"
TIME_FORMAT = "g:i A"
DATETIME_FORMAT = "M j, Y, g:i A"
SHORT_DATE_FORMAT = "D, M j"
SHORT_DATETIME_FORMAT = "M j, Y, g:i:s A"
MONTH_DAY_FORMAT = "M j"
YEAR_MONTH_FORMAT = "M Y"
