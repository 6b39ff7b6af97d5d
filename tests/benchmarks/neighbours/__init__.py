"""Worst-case callers, one kind after the other, and what a good caller beside them notices."""
