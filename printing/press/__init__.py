"""Makes press-ready PDFs: PDF/X-4 in the colors of an output condition.

Pure Python with pikepdf and LittleCMS; no Django. `rules` holds the settings of a print preset.
"""
