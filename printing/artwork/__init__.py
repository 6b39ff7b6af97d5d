"""Reads what a PDF of a customer prints, without rendering it. It stands on `press` alone: each upload starts a process
that loads it.
"""
