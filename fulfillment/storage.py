"""Where files are kept: a folder, or an S3 bucket (settings choose)."""

from pathlib import Path
from tempfile import NamedTemporaryFile

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage


class FolderStorage(FileSystemStorage):
    """A file appears whole under its name or not at all, also when its writer is killed half-way."""

    def _save(self, name: str, content: File) -> str:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        # In the folder itself: a rename is atomic only within one file system.
        with NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as part:
            try:
                for chunk in content.chunks():
                    part.write(chunk)
                part.close()
                Path(part.name).chmod(0o644)
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
        return name
