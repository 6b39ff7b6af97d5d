"""Where the tables of this app belong when the database is split by store."""

from fulfillment.core.plugins import Distribution

DISTRIBUTION = Distribution(
    on_one="""
        Area Dataset EddmSelection EddmSelectionRoute ImportProblem ImportRun LiveDataset OfficialForm Population
        PostagePrice
    """,
)
