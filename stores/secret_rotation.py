from stores.proofs.links import TIME_LIMITED

__all__ = ["TIME_LIMITED"]
