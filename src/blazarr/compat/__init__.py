"""What makes blazarr usable from other packages, each in a folder of its own."""
