"""Zarr for Python, as fast as the machine allows."""
