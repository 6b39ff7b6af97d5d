"""The print engine: templates with values become proofs and press-ready PDFs. A library without Django.

`preflight` stands on `typesetting` and `artwork`, these on `press`, this on `pictures`. The
modules beside them serve all.
"""
