"""Modules of openpyxl, which loads numpy, with their first use: most web processes write no spreadsheet."""

from typing import TYPE_CHECKING

from fulfillment.core.memory import DeferredModule

if TYPE_CHECKING:
    import openpyxl as books
    from openpyxl import cell as cells
    from openpyxl import comments, styles
    from openpyxl.styles import numbers
    from openpyxl.worksheet import datavalidation
else:
    books, cells, comments, styles, numbers, datavalidation = map(
        DeferredModule,
        (
            "openpyxl",
            "openpyxl.cell",
            "openpyxl.comments",
            "openpyxl.styles",
            "openpyxl.styles.numbers",
            "openpyxl.worksheet.datavalidation",
        ),
    )

__all__ = ["books", "cells", "comments", "datavalidation", "numbers", "styles"]
