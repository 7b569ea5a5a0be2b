"""Numbers of bytes as people write them."""

import pytest

from blazarr.conversion.sizes import parse_size
from blazarr.errors import BlazarrError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (7, 7),
        ("7", 7),
        ("1e9", 10**9),
        ("2 GB", 2 * 10**9),
        ("512MiB", 512 << 20),
        ("1.5gib", 3 << 29),
        ("1G", 1 << 30),
        ("8 b", 8),
    ],
)
def test_read(text, size):
    assert parse_size(text, "max_memory") == size


@pytest.mark.parametrize("text", ["", "lots", "1 furlong", "-1", 0, -5, True, None, 1.5, "1e999"])
def test_refused_with_the_name_of_the_argument(text):
    with pytest.raises(BlazarrError, match="max_memory") as caught:
        parse_size(text, "max_memory")
    assert caught.value.argument == "max_memory"
