"""What a store implements.

Derive from `Store` and pass an object of your class wherever a store is taken. Five members have
to be there: `capabilities`, `get`, `put`, `delete` and `list`; the others have defaults that call
these. They are called from several threads at once. `blazarr.testing.store_contract` tests them.
"""

from blazarr.stores import (
    ABSENT,
    ANY,
    Capabilities,
    Children,
    Data,
    Expect,
    Generation,
    Page,
    Store,
)

__all__ = [
    "ABSENT",
    "ANY",
    "Capabilities",
    "Children",
    "Data",
    "Expect",
    "Generation",
    "Page",
    "Store",
]
