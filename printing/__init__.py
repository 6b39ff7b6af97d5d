"""The print engine: templates with values become proofs and press-ready PDFs. A library without Django.

`preflight` stands on `typesetting`, this on `press`, this on `pictures`; the modules beside them serve all four.
"""
