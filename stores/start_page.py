from stores.proofs.pages.live import live_proof

__all__ = ["live_proof"]
