"""Contracts and tools for the tests of those who extend blazarr."""
