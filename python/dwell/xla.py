"""XLA's annotations, recorded by dwell.

The classes have the names and arguments of `torch_xla.debug.profiler` and of
`jax.profiler` (TraceAnnotation, StepTraceAnnotation), so that an annotated program is
recorded without changing more than its import. start_server() is torch_xla's and JAX's,
for captures from TensorBoard.
"""
from __future__ import annotations

import functools
from typing import Any

from . import _native as native
from .profiler import begin_step, end_step, record_function

__all__ = ["ProfilerServer", "StepTrace", "Trace", "start_server"]


class Trace(record_function):
    """A named range of the program: a context manager and a decorator.

    `name` is what reports and TensorBoard's trace viewer show. Keyword arguments are
    stored with the name, as "key=value,key=value"; each set of values is a name of its
    own, so give what takes few values.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, ",".join(f"{key}={value}" for key, value in kwargs.items()) or None)
        self._values = kwargs

    def _recreate_cm(self):
        return type(self)(self.name, **self._values)

    def __reduce__(self):
        return functools.partial(type(self), self.name, **self._values), ()


class StepTrace(Trace):
    """A step of training with a range of its name in it: a context manager and a decorator.

    `step_num` is accepted as torch_xla and JAX have it and not stored: dwell numbers the
    steps of a process itself, from 0, and shows these numbers everywhere, in TensorBoard
    too. Steps do not nest: one that begins within another ends it.
    """

    def __init__(self, name: str, step_num: int | None = None, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self.step_num = step_num

    def __enter__(self) -> StepTrace:
        begin_step()
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        end_step()


class ProfilerServer:
    """Serves captures of this program until stop(); see start_server().

    `port` is where: TensorBoard's CAPTURE PROFILE takes "localhost:PORT".
    """

    def __init__(self, port: int) -> None:
        self.port = None
        self.port = native.check(native.record.dwell_serve_start, native.whole(port, "port", 0, 65535))

    def stop(self) -> None:
        """Ends the server; a capture under way is answered with what there is."""
        if self.port is not None:
            self.port = None
            native.record.dwell_serve_stop()

    def __enter__(self) -> ProfilerServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


def start_server(port: int) -> ProfilerServer:
    """Lets TensorBoard and other clients of XLA's profiler capture from this program.

    A server of its own process listens at `port` of this machine (0: any that is free;
    the result's `port` says which) until the result's stop() or the program's end, whether
    the result is kept or not. Nothing is recorded until a capture asks, and then all that
    `dwell run` records of this program. Raises dwell's Error, which says the remedy, when
    the port is in use or this program is served already.
    """
    return ProfilerServer(port)
