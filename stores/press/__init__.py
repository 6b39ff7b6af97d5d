"""Makes PDFs that a print shop runs without touching them: PDF/X-4, in the colours of an output condition.

Pure Python, pikepdf and LittleCMS; no Django. `rules` says what a print preset asks for.
"""
