"""scale_offset, cast_value, bitround and packbits: exact, or an error."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from blazarr.codecs import BitRoundCodec, CastValue, PackBitsCodec, ScaleOffset
from blazarr.codecs.stage import Stage
from blazarr.errors import BlazarrError, CorruptError, MetadataError, UnsupportedError

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
FLOATS = ["f2", "f4", "f8"]
ROUNDING = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"]


def stage(array):
    return Stage.of(array.dtype, array.shape)


def integers(dtype):
    limits = np.iinfo(dtype)
    return st.integers(int(limits.min), int(limits.max))


@given(st.data(), st.sampled_from(INTEGERS))
def test_scaled_integers_are_exact_or_refused(data, dtype):
    values = data.draw(st.lists(integers(dtype), min_size=1, max_size=5))
    offset = data.draw(integers(dtype) | st.integers(0, 9))
    scale = data.draw((integers(dtype) | st.integers(1, 9)).filter(bool))
    array, codec = np.array(values, dtype), ScaleOffset(offset=offset, scale=scale)
    exact = [(value - offset) * scale for value in values]
    limits = np.iinfo(dtype)
    if all(limits.min <= number <= limits.max for number in exact):
        encoded = codec.encode(array)
        assert encoded.tolist() == exact
        assert codec.decode(encoded, stage(array)).tolist() == values
    else:
        with pytest.raises(BlazarrError, match="can't hold"):
            codec.encode(array)


def test_scaled_floats():
    array = np.array([10.0, 12.5, np.nan, -np.inf], "f4")
    codec = ScaleOffset(offset=10, scale="0.5")
    encoded = codec.encode(array)
    assert encoded.dtype == "f4"
    np.testing.assert_array_equal(encoded, np.array([0, 1.25, np.nan, -np.inf], "f4"))
    np.testing.assert_array_equal(codec.decode(encoded, stage(array)), array)


def test_scale_must_divide_what_is_stored():
    with pytest.raises(BlazarrError, match="no multiples of the scale 3"):
        ScaleOffset(scale=3).decode(np.array([3, 4], "i4"), Stage.of(np.dtype("i4"), (2,)))


@pytest.mark.parametrize(
    ("codec", "dtype", "error", "text"),
    [
        (ScaleOffset(scale=0), "i4", MetadataError, "scale must be other than 0"),
        (ScaleOffset(scale="0x0"), "f4", MetadataError, "scale"),
        (ScaleOffset(offset=300), "u1", MetadataError, "offset"),
        (ScaleOffset(offset=0.5), "i4", MetadataError, "offset"),
        (ScaleOffset(), "c8", UnsupportedError, "integers and floats, not complex64"),
    ],
)
def test_scale_offset_checks_its_numbers(codec, dtype, error, text):
    with pytest.raises(error, match=text):
        codec.evolve(Stage.of(np.dtype(dtype), (1,)))


def rounded(value, rounding):
    """Round a fraction to an integer, in exact arithmetic."""
    low = math.floor(value)
    if value == low:
        return low
    rest = value - low
    up = {
        "nearest-even": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1),
        "nearest-away": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0),
        "towards-zero": value < 0,
        "towards-positive": True,
        "towards-negative": False,
    }[rounding]
    return low + up


@given(st.data(), st.sampled_from(FLOATS), st.sampled_from(INTEGERS), st.sampled_from(ROUNDING))
def test_floats_to_integers(data, source, target, rounding):
    width = 8 * np.dtype(source).itemsize
    floats = st.floats(width=width, allow_nan=False, allow_infinity=False)
    near = st.integers(-600, 600).map(lambda n: n / 4)
    array = np.array(data.draw(st.lists(floats | near, min_size=1, max_size=5)), source)
    whole = [rounded(Fraction(float(value)), rounding) for value in array]
    limits = np.iinfo(target)
    name = np.dtype(target).name
    wrap = CastValue(data_type=name, rounding=rounding, out_of_range="wrap").encode(array)
    clamp = CastValue(data_type=name, rounding=rounding, out_of_range="clamp").encode(array)
    bits = 8 * np.dtype(target).itemsize
    assert [int(n) % 2**bits for n in wrap] == [n % 2**bits for n in whole]
    assert clamp.tolist() == [min(max(n, int(limits.min)), int(limits.max)) for n in whole]
    if clamp.tolist() == whole:
        assert CastValue(data_type=name, rounding=rounding).encode(array).tolist() == whole
    else:
        with pytest.raises(BlazarrError, match="don't fit"):
            CastValue(data_type=name, rounding=rounding).encode(array)


@given(st.data(), st.sampled_from(INTEGERS), st.sampled_from(INTEGERS))
def test_integers_to_integers(data, source, target):
    values = data.draw(st.lists(integers(source), min_size=1, max_size=5))
    array, limits, name = np.array(values, source), np.iinfo(target), np.dtype(target).name
    clamp = CastValue(data_type=name, out_of_range="clamp").encode(array)
    wrap = CastValue(data_type=name, out_of_range="wrap").encode(array)
    assert clamp.tolist() == [min(max(n, int(limits.min)), int(limits.max)) for n in values]
    assert wrap.tolist() == np.array(values, source).astype(target).tolist()


def neighbours(value, target):
    """The floats of a type on both sides of an exact number."""
    with np.errstate(over="ignore"):
        near = np.array(float(value)).astype(target)[()]
    low = high = near
    while Fraction(-2) ** 2000 if np.isinf(low) and low > 0 else Fraction(low.item()) > value:
        low = np.nextafter(low, target.type(-np.inf))
    while np.isfinite(high) and Fraction(high.item()) < value:
        high = np.nextafter(high, target.type(np.inf))
    return low, high


@given(st.data(), st.sampled_from(["i8", "u8", "f4", "f8"]), st.sampled_from(["f2", "f4"]))
def test_to_floats_in_a_direction(data, source, target):
    dtype = np.dtype(target)
    bound = 60000 if target == "f2" else 2**60
    if source[0] == "f":
        value = data.draw(st.floats(-bound, bound, width=8 * int(source[1])))
    else:
        value = data.draw(st.integers(-bound if source == "i8" else 0, bound))
    array = np.array([value], source)
    exact = Fraction(array[0].item())
    low, high = neighbours(exact, dtype)
    name = dtype.name
    up = CastValue(data_type=name, rounding="towards-positive").encode(array)[0]
    down = CastValue(data_type=name, rounding="towards-negative").encode(array)[0]
    zero = CastValue(data_type=name, rounding="towards-zero").encode(array)[0]
    assert (down, up) == (low, high)
    assert zero == (low if exact > 0 else high)
    for rounding in ("nearest-even", "nearest-away"):
        near = CastValue(data_type=name, rounding=rounding).encode(array)[0]
        distance = abs(Fraction(near.item()) - exact)
        assert distance == min(abs(Fraction(end.item()) - exact) for end in (low, high))
    if Fraction(low.item()) + Fraction(high.item()) == 2 * exact:
        assert abs(near) == max(abs(low), abs(high))


@pytest.mark.parametrize("rounding", ROUNDING)
def test_floats_out_of_range(rounding):
    array = np.array([1e39, -1e39, 1.0], "f8")
    with pytest.raises(BlazarrError, match=r"from -1e\+39 to 1e\+39 .* don't fit float32"):
        CastValue(data_type="float32", rounding=rounding).encode(array)
    clamped = CastValue(data_type="float32", rounding=rounding, out_of_range="clamp").encode(array)
    assert clamped.tolist() == [np.inf, -np.inf, 1.0]


def test_special_values_stay_in_floats():
    array = np.array([np.nan, np.inf, -np.inf, -0.0], "f8")
    encoded = CastValue(data_type="float32").encode(array)
    np.testing.assert_array_equal(encoded, array.astype("f4"))
    assert np.signbit(encoded[3])


def test_special_values_need_a_map_for_integers():
    array = np.array([[np.nan, 1.5], [np.inf, 7.0]])
    with pytest.raises(BlazarrError, match="scalar_map can say"):
        CastValue(data_type="int16", out_of_range="clamp").encode(array)
    codec = CastValue(
        data_type="int16",
        scalar_map={
            "encode": [["NaN", -1], ["Infinity", 99], [7, 0], [7, 5]],
            "decode": [[-1, "NaN"]],
        },
    )
    encoded = codec.encode(array)
    assert encoded.tolist() == [[-1, 2], [99, 0]]
    decoded = codec.decode(encoded, stage(array))
    np.testing.assert_array_equal(decoded, [[np.nan, 2], [99, 0]])
    assert decoded.dtype == "f8"


def test_other_byte_orders_are_cast():
    array = np.array([1, 300], ">i4")
    assert CastValue(data_type="uint8", out_of_range="wrap").encode(array).tolist() == [1, 44]
    decoded = CastValue(data_type="uint8").decode(np.array([1, 44], "u1"), stage(array))
    assert decoded.dtype == ">i4"
    assert decoded.tolist() == [1, 44]


@pytest.mark.parametrize("data_type", ["bool", "complex64", "string"])
def test_cast_value_takes_numbers(data_type):
    with pytest.raises(UnsupportedError, match="casts integers and floats"):
        CastValue(data_type=data_type)


def test_a_map_must_hold_elements_of_its_types():
    codec = CastValue(data_type="uint8", scalar_map={"encode": [["NaN", 300]]})
    with pytest.raises(MetadataError, match=r"scalar_map\.encode"):
        codec.evolve(Stage.of(np.dtype("f8"), (1,)))


@given(st.data(), st.sampled_from(["u1", "u2", "u4", "u8"]), st.integers(1, 12))
def test_rounded_integers_keep_their_first_bits(data, dtype, keepbits):
    values = data.draw(st.lists(integers(dtype), min_size=1, max_size=6))
    encoded = BitRoundCodec(keepbits=keepbits).encode(np.array(values, dtype)).tolist()
    for value, found in zip(values, encoded, strict=True):
        unit = 1 << max(value.bit_length() - keepbits, 0)
        assert found % unit == 0
        nearest = round(Fraction(value, unit)) * unit
        assert found == (nearest if nearest < 1 << 8 * int(dtype[1]) else value // unit * unit)


def test_floats_are_rounded_by_the_core():
    assert BitRoundCodec(keepbits=23).native(Stage.of(np.dtype("f4"), (1,))) == []
    with pytest.raises(MetadataError, match="at most 10 for float16"):
        BitRoundCodec(keepbits=11).native(Stage.of(np.dtype("f2"), (1,)))


@given(
    arrays.arrays(
        st.sampled_from(["?", "u1", "i1", "u4", "i8", "f4", "c8"]),
        arrays.array_shapes(max_dims=2, min_side=0),
    ),
    st.sampled_from(["none", "first_byte", "last_byte"]),
)
def test_packed_bits_round_trip(array, padding):
    codec = PackBitsCodec(padding_encoding=padding)
    packed = codec.encode(array)
    assert len(packed) <= codec.max_encoded(array.nbytes)
    assert codec.decode(packed, stage(array)).tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("array", "options", "packed"),
    [
        (np.arange(11) % 2 == 0, {}, [0b01010101, 0b101]),
        (np.arange(11) % 2 == 0, {"padding_encoding": "first_byte"}, [5, 0b01010101, 0b101]),
        (np.array([1, -2], "i1"), {"last_bit": 3}, [0b1110_0001]),
        (np.array([16, 48], "u2"), {"first_bit": 4, "last_bit": 5}, [0b1101]),
    ],
)
def test_packed_bits(array, options, packed):
    codec = PackBitsCodec(**options)
    assert list(codec.encode(array)) == packed
    np.testing.assert_array_equal(codec.decode(bytes(packed), stage(array)), array)


def test_packed_bits_are_numcodecs_but_for_their_order():
    numcodecs = pytest.importorskip("numcodecs")
    array = np.arange(21) % 3 == 0
    ours = PackBitsCodec(padding_encoding="first_byte").encode(array)
    theirs = bytes(numcodecs.PackBits().encode(array))
    assert ours[0] == theirs[0]
    assert [int(f"{byte:08b}"[::-1], 2) for byte in ours[1:]] == list(theirs[1:])


def test_packed_bits_of_the_wrong_length():
    with pytest.raises(CorruptError, match="3 bytes for 11 elements of 1 bits"):
        PackBitsCodec().decode(b"abc", Stage.of(np.dtype("?"), (11,)))


def test_bits_that_no_element_has():
    with pytest.raises(MetadataError, match="last_bit must be from first_bit to 7 for uint8"):
        PackBitsCodec(last_bit=8).encode(np.zeros(1, "u1"))
