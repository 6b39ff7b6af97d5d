"""Reads and writes files of rows (CSV, XLSX and JSON) and matches their columns; knows no models.

It exports nothing: the process that parses a file loads what it needs and no more.
"""
