"""Day first and a clock of twelve hours: 22 Nov 2026, 1:11 p.m."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "g:i a"
DATETIME_FORMAT = "j M Y, g:i a"
SHORT_DATE_FORMAT = "D j M"
SHORT_DATETIME_FORMAT = "j M Y, g:i:s a"
MONTH_DAY_FORMAT = "j M"
YEAR_MONTH_FORMAT = "M Y"
