"""Client libraries, made from the golden schema by `make clients`."""
