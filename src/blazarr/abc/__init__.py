"""What extenders implement, by zarr-python's module names.

`blazarr.abc.store`, `.codec`, `.buffer`, `.metadata` and `.numcodec` say what is to be implemented.
`blazarr.testing` has the contract suites that an implementation can be run against.
"""
