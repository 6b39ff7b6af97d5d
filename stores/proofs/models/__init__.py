from stores.proofs.models.asset import Asset, AssetFormat, PlatesFormat
from stores.proofs.models.proof import Proof

__all__ = ["Asset", "AssetFormat", "PlatesFormat", "Proof"]
