"""A real Medusa shop orders at the service: `make test-shop`. It needs npm and its registry: no part of the suite."""
