"""A backup is a folder: `database.dump`, `files/`, `files.jsonl` and, written last, `manifest.json`.

The dump and the row counts are of one snapshot. Files are written before the rows that name them and removed after
them, and nothing is pruned during a backup: so the files copied after the snapshot hold all that its rows name.
"""
