"""Where the tables of this app belong when the database is split by store."""

from fulfillment.core.plugins import Distribution

DISTRIBUTION = Distribution(
    by_store="""
        ApprovalRequest Asset Batch BatchApproval BatchRow Budget BudgetEntry BudgetPeriod ColumnMapping CostCenter
        CostCenterMember Order OrderComment OrderDay OrderHistory OrderItem OrderSearch OrderTally OrderedAsset Proof
        Quote Shipment StoreUsage TestScenario
    """,
    everywhere="""
        DeliveredPrice Font OutputProfile PrintPreset Product ProductionSpeed Store StoreProfile TemplateField
        TemplatePicture
    """,
    on_one="ArtworkUpload CatalogUpload OrderView TemplateChange",
)
