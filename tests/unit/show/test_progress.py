"""The line of progress: nothing under a second, nothing where nobody looks."""

import io

import pytest

from blazarr.engine.events import Meter, Progress
from blazarr.show.progress import Line, line, listener_of


class Terminal(io.StringIO):
    def isatty(self):
        return True


def progress(seconds, done=300 << 20, *, finished=False):
    return Progress("copy", done, 1 << 30, 100 << 20, seconds, finished)


def test_rate_and_time_left_are_of_this_run():
    event = progress(2)
    assert event.rate == 100 << 20
    assert event.remaining == pytest.approx(7.24)
    assert progress(0).rate is None
    assert progress(2, done=100 << 20).remaining is None


def test_the_line():
    assert line(progress(2)) == "copy  29 %  300.0 MiB of 1.0 GiB  100.0 MiB/s  0:07 left"
    assert line(Progress("check", 0, 0)) == "check 100 %  0 B of 0 B"


def test_nothing_under_a_second():
    stream = Terminal()
    show = Line(stream)
    show(progress(0.5))
    show(progress(0.9, finished=True))
    assert not stream.getvalue()


def test_the_line_is_cleared_at_the_end():
    stream = Terminal()
    show = Line(stream)
    show(progress(2))
    show(progress(2.01))
    show(progress(3, finished=True))
    assert stream.getvalue().count("copy") == 1
    assert stream.getvalue().endswith(" \r")


@pytest.mark.parametrize(
    ("stream", "variables"),
    [(io.StringIO(), {}), (Terminal(), {"CI": "true"}), (Terminal(), {"TERM": "dumb"})],
)
def test_quiet_where_nobody_looks(stream, variables, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr("sys.stderr", stream)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert listener_of(progress=True) is None


def test_who_listens(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", Terminal())
    assert isinstance(listener_of(progress=True), Line)
    assert listener_of(progress=False) is None
    seen = []
    meter = Meter(listener_of(seen.append), "copy", 10, kept=4)
    meter.add(6)
    meter.finish()
    assert [(event.done, event.finished) for event in seen] == [(10, False), (10, True)]
