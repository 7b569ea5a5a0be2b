"""``python -m blazarr``: the command line."""

from blazarr.cli import main

main()
