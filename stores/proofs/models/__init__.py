from stores.proofs.models.asset import Asset, AssetFormat
from stores.proofs.models.proof import Proof

__all__ = ["Asset", "AssetFormat", "Proof"]
