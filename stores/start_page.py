from stores.proofs.pages import live_proof

__all__ = ["live_proof"]
