"""ndsel messages of five kinds, checked and brought to the one canonical form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from blazarr.errors import SelectionError

JSON: TypeAlias = Any
Body: TypeAlias = dict[str, JSON]

_INFINITE: Final = ("-inf", "+inf")
_LIMIT: Final = 1 << 63
# An array can't have more axes, and every axis costs memory.
_MOST_AXES: Final = 64


def ndsel_error(code: str, detail: str) -> SelectionError:
    """Make the error for a message; `code` is ndsel's name of the reason."""
    return SelectionError(f"{code}: {detail}")


def normalize(message: Mapping[str, JSON]) -> Body:
    """Return the canonical form of a message, which is that of ``transform`` without its kind."""
    if not isinstance(message, Mapping):
        raise ndsel_error("invalid_json", f"a message is an object, not {type(message).__name__}")
    kind = message.get("kind")
    if not isinstance(kind, str):
        raise ndsel_error("invalid_json", f"the message's kind is {kind!r}")
    if kind not in _KINDS:
        raise ndsel_error("unknown_kind", f"{kind!r} is none of {sorted(_KINDS)}")
    members, normalizer = _KINDS[kind]
    for name in message:
        if name not in members and name != "kind":
            raise ndsel_error("unknown_field", f"{kind} has no {name!r}")
    return normalizer(message)


def _point(message: Mapping[str, JSON]) -> Body:
    indices = _integers(_required(message, "coords"), "coords")
    return _body([], [], [], [{"offset": index} for index in indices])


def _points(message: Mapping[str, JSON]) -> Body:
    rows = [
        _integers(row, f"coords[{i}]")
        for i, row in enumerate(_list(_required(message, "coords"), "coords"))
    ]
    if len({len(row) for row in rows}) > 1:
        raise ndsel_error("rank_mismatch", "coords has rows of different lengths")
    output = [
        {"offset": 0, "stride": 1, "index_array": list(column), "index_array_bounds": [*_INFINITE]}
        for column in zip(*rows, strict=True)
    ]
    return _body([0], [len(rows)], [""], output)


def _box(message: Mapping[str, JSON]) -> Body:
    low, high, labels = _domain(message, "")
    return _body(low, high, labels, _identity(len(low)))


def _slice(message: Mapping[str, JSON]) -> Body:
    start = _integers(_required(message, "start"), "start")
    stop = _integers(_required(message, "stop"), "stop")
    step = _integers(message.get("step", [1] * len(start)), "step")
    labels = _labels(message, "labels", len(start))
    if not len(start) == len(stop) == len(step):
        raise ndsel_error("rank_mismatch", "start, stop and step have different lengths")
    axes = [
        _slice_axis(axis, *bounds)
        for axis, bounds in enumerate(zip(start, stop, step, strict=True))
    ]
    lows, highs = [low for low, _, _ in axes], [high for _, high, _ in axes]
    return _body(lows, highs, labels, [output for _, _, output in axes])


def _slice_axis(axis: int, start: int, stop: int, step: int) -> tuple[int, int, Body]:
    if step == 0:
        raise ndsel_error("step_zero", f"step[{axis}] is 0")
    length = stop - start if step > 0 else start - stop
    if length < 0:
        raise ndsel_error(
            "bounds_out_of_order", f"axis {axis} runs from {start} to {stop} in steps of {step}"
        )
    count = -(-length // abs(step))
    # Rounded towards 0, as TensorStore does.
    origin = abs(start) // abs(step) * (1 if (start < 0) == (step < 0) else -1)
    output = {"offset": start - step * origin, "stride": step, "input_dimension": axis}
    return origin, origin + count, output


def _transform(message: Mapping[str, JSON]) -> Body:
    low, high, labels = _domain(message, "input_")
    given = message.get("output")
    if given is None:
        return _body(low, high, labels, _identity(len(low)))
    maps = [_map(entry, f"output[{i}]", len(low)) for i, entry in enumerate(_list(given, "output"))]
    return _body(low, high, labels, maps)


_MAP_MEMBERS: Final = frozenset(
    ["offset", "stride", "input_dimension", "index_array", "index_array_bounds"]
)


def _map(entry: JSON, where: str, rank: int) -> Body:
    if not isinstance(entry, Mapping):
        raise ndsel_error("invalid_json", f"{where} is no object")
    for name in entry:
        if name not in _MAP_MEMBERS:
            raise ndsel_error("unknown_field", f"{where} has no {name!r}")
    offset = _integer(entry.get("offset", 0), f"{where}.offset")
    if "input_dimension" in entry and "index_array" in entry:
        raise ndsel_error("output_map_conflict", f"{where} has input_dimension and index_array")
    if "input_dimension" in entry:
        dimension = _integer(entry["input_dimension"], f"{where}.input_dimension")
        if not 0 <= dimension < rank:
            raise ndsel_error("rank_mismatch", f"{where}: there is no input dimension {dimension}")
        stride = _integer(entry.get("stride", 1), f"{where}.stride")
        return {"offset": offset, "stride": stride, "input_dimension": dimension}
    if "index_array" not in entry:
        return {"offset": offset}
    bounds = _list(entry.get("index_array_bounds", [*_INFINITE]), f"{where}.index_array_bounds")
    if len(bounds) != len(_INFINITE):
        raise ndsel_error("invalid_json", f"{where}.index_array_bounds are {bounds}")
    return {
        "offset": offset,
        "stride": _integer(entry.get("stride", 1), f"{where}.stride"),
        "index_array": entry["index_array"],
        "index_array_bounds": [_bound(bound, where) for bound in bounds],
    }


_UPPER: Final = ("exclusive_max", "inclusive_max", "shape")


def _domain(message: Mapping[str, JSON], prefix: str) -> tuple[list[JSON], list[JSON], list[str]]:
    """Read the lower and upper bounds of the axes, however the upper ones are given, and their names."""
    upper = [prefix + name for name in _UPPER if prefix + name in message]
    if len(upper) > 1:
        raise ndsel_error("multiple_upper_bounds", f"only one of {upper} can be given")
    lists = {
        name: [_bound(bound, name) for bound in _list(message[name], name)]
        for name in (f"{prefix}inclusive_min", *upper)
        if name in message
    }
    labels = message.get(f"{prefix}labels")
    rank = _rank(message, lists, labels, prefix)
    low = lists.get(f"{prefix}inclusive_min", [0] * rank)
    high = [["+inf"]] * rank if not upper else lists[upper[0]]
    if upper:
        how = upper[0].removeprefix(prefix)
        high = [_exclusive(how, least, most) for least, most in zip(low, high, strict=True)]
    for axis, (least, most) in enumerate(zip(low, high, strict=True)):
        if _order(least) > _order(most):
            raise ndsel_error("bounds_out_of_order", f"axis {axis} ends before it begins")
    return low, high, _labels(message, f"{prefix}labels", rank)


def _rank(
    message: Mapping[str, JSON], lists: Mapping[str, list[JSON]], labels: JSON, prefix: str
) -> int:
    found = [len(values) for values in lists.values()]
    if labels is not None:
        found.append(len(_list(labels, f"{prefix}labels")))
    if f"{prefix}rank" in message:
        found.append(_integer(message[f"{prefix}rank"], f"{prefix}rank"))
    if len(set(found)) > 1:
        raise ndsel_error("rank_mismatch", "the members are for different numbers of axes")
    rank = found[0] if found else 0
    if not 0 <= rank <= _MOST_AXES:
        raise ndsel_error("invalid_json", f"{rank} axes")
    return rank


def _exclusive(how: str, low: JSON, bound: JSON) -> JSON:
    value = _value(bound)
    if how != "exclusive_max" and isinstance(value, int):
        least = _value(low)
        value = value + 1 if how == "inclusive_max" else _plus(least, value)
        value = _integer(value, how) if isinstance(value, int) else value
    elif how == "shape" and value == "-inf":
        raise ndsel_error("invalid_json", "a shape can't be '-inf'")
    return [value] if isinstance(bound, list) else value


def _plus(low: JSON, count: int) -> JSON:
    return low + count if isinstance(low, int) else low


def _value(bound: JSON) -> JSON:
    return bound[0] if isinstance(bound, list) else bound


def _order(bound: JSON) -> tuple[int, int]:
    value = _value(bound)
    return (_INFINITE.index(value) * 2 - 1, 0) if isinstance(value, str) else (0, value)


def _bound(bound: JSON, where: str) -> JSON:
    """Check a bound: an integer or an infinity; in brackets where it is implicit."""
    if isinstance(bound, list):
        if len(bound) != 1:
            raise ndsel_error("invalid_json", f"{where}: {bound} is no bound")
        return [_bound_value(bound[0], where)]
    return _bound_value(bound, where)


def _bound_value(value: JSON, where: str) -> JSON:
    return value if value in _INFINITE else _integer(value, where)


def _integer(value: JSON, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -_LIMIT <= value < _LIMIT:
        raise ndsel_error("invalid_json", f"{where}: {value!r} is no integer of 64 bits")
    return value


def _integers(values: JSON, where: str) -> list[int]:
    return [_integer(value, f"{where}[{i}]") for i, value in enumerate(_list(values, where))]


def _list(values: JSON, where: str) -> list[JSON]:
    if not isinstance(values, list | tuple):
        raise ndsel_error("invalid_json", f"{where} is no list")
    return list(values)


def _labels(message: Mapping[str, JSON], member: str, rank: int) -> list[str]:
    labels = _list(message.get(member, [""] * rank), member)
    if not all(isinstance(label, str) for label in labels):
        raise ndsel_error("invalid_json", f"{member} holds other than names")
    if len(labels) != rank:
        raise ndsel_error("rank_mismatch", f"{len(labels)} {member} for {rank} axes")
    return labels


def _required(message: Mapping[str, JSON], member: str) -> JSON:
    if member not in message:
        raise ndsel_error("invalid_json", f"{member!r} is missing")
    return message[member]


def _identity(rank: int) -> list[Body]:
    return [{"offset": 0, "stride": 1, "input_dimension": axis} for axis in range(rank)]


def _body(low: list[JSON], high: list[JSON], labels: list[str], output: list[Body]) -> Body:
    return {
        "input_rank": len(low),
        "input_inclusive_min": low,
        "input_exclusive_max": high,
        "input_labels": labels,
        "output": output,
    }


_BOX: Final = frozenset(["inclusive_min", *_UPPER, "labels"])
_KINDS: Final[dict[str, tuple[frozenset[str], Callable[[Mapping[str, JSON]], Body]]]] = {
    "box": (_BOX, _box),
    "point": (frozenset(["coords"]), _point),
    "points": (frozenset(["coords"]), _points),
    "slice": (frozenset(["start", "stop", "step", "labels"]), _slice),
    "transform": (
        frozenset([f"input_{name}" for name in (*_BOX, "rank")] + ["output"]),
        _transform,
    ),
}
