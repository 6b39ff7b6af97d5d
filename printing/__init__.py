"""The print engine: templates with values become proofs and press-ready PDFs. A library without Django.

`documents` stands on `imposition` and `preflight`, these on `typesetting` and `artwork`, these on `press`, and `press`
on `pictures`. The other modules serve all.
"""
