"""Writes models and operations of the client libraries from the OpenAPI description."""
