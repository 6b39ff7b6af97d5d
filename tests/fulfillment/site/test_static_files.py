import re
import shutil
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage

from fulfillment.core.files.storage import StaticFiles

FOLDER = "console/designer"


def test_imports_of_our_modules_name_the_files_of_this_release(tmp_path):
    source = Path(settings.BASE_DIR, "static", FOLDER)
    shutil.copytree(source, tmp_path / FOLDER)
    storage = StaticFiles(location=tmp_path, base_url="/static/")
    names = [f"{FOLDER}/{path.name}" for path in source.glob("*.js")]

    done = list(storage.post_process({name: (FileSystemStorage(tmp_path), name) for name in names}))

    hashed = {storage.stored_name(name) for name in names}
    imports = {
        imported
        for name in hashed
        for imported in re.findall(r'from "\./([^"]+)"', (tmp_path / name).read_text())
    }
    assert [error for _, _, error in done if isinstance(error, Exception)] == []
    assert imports
    assert {f"{FOLDER}/{name}" for name in imports} <= hashed
