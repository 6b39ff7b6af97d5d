from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = r"""(?P<matched>(?P<import>import\s[^;"']*?from)\s*["'](?P<url>[./][^"']+)["']\s*;)"""


class StaticFiles(CompressedManifestStaticFilesStorage):
    """The imports of our own module scripts name the hashed files of this release, which browsers cache for long.

    Django's own switch covers all scripts, and one of django-unfold imports a file that it does not ship.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("console/designer/*.js", ((IMPORTS, '%(import)s "%(url)s";'),)),
    )
