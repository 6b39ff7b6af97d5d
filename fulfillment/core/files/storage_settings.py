"""Django's settings of the storage of files: a folder, or a bucket."""

import re

from fulfillment.core import environment


def storage_settings(kind: str) -> dict[str, object]:
    """`kind` is `folder` or `s3`; a bucket is read from the environment."""
    if kind == "folder":
        return {
            "BACKEND": "fulfillment.core.files.storage.FolderStorage",
            "OPTIONS": {"allow_overwrite": True},
        }
    bucket = environment.text("S3_BUCKET")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]", bucket):
        environment.refuse(
            f"S3_BUCKET is {bucket!r}; write the name of the bucket that keeps files, 3 to 63 letters, digits, dots "
            "and hyphens, or set FILE_STORAGE to folder.",
            None,
        )
    region = environment.text("S3_REGION")
    if region and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}", region):
        environment.refuse(f"S3_REGION is {region!r}; write the name of a region, such as us-east-1.", None)
    from botocore.config import Config  # noqa: PLC0415 - loads slowly, and only S3 needs it

    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": environment.url(
                "S3_ENDPOINT_URL", schemes=("http", "https"), expected="an address such as https://s3.example"
            )
            or None,
            "region_name": region or None,
            "location": environment.text("S3_PREFIX"),
            "file_overwrite": True,
            # The default waits a minute and tries five times, longer than any request should.
            "client_config": Config(connect_timeout=3, read_timeout=10, retries={"total_max_attempts": 2}),
        },
    }
