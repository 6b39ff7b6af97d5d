from stores.editor.models.artwork_upload import ArtworkUpload

__all__ = ["ArtworkUpload"]
