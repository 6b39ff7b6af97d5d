from django.contrib.staticfiles.storage import HashedFilesMixin
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = HashedFilesMixin._js_module_import_aggregation_patterns[1]  # noqa: SLF001 - Django has it for all scripts or none


class StaticFiles(CompressedManifestStaticFilesStorage):
    """Also the imports of our scripts that are modules name the files of this release, which browsers keep for ever.

    Only ours: a script of django-unfold names a file that it does not bring.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("console/designer/*.js", IMPORTS))
