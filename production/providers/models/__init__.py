from production.providers.models.ledger import LedgerRow, LedgerStem, ProviderLedger
from production.providers.models.provider import Provider

__all__ = ["LedgerRow", "LedgerStem", "Provider", "ProviderLedger"]
