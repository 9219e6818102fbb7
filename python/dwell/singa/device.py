"""SINGA's devices, for the time profiling of a PyTorch training loop.

    from dwell.singa import device
    dev = device.create_cuda_gpu()
    dev.SetVerbosity(2)
    dev.SetSkipIteration(5)
    ... train ...
    dev.PrintTimeProfiling()

An iteration is a training step: it ends with the optimizer's. The operations are PyTorch's
operators that lie in no other, of the forward pass, the backward pass and the optimizer, in
the order in which they run. Times are seconds. That of an operator whose work is a GPU's is the
GPU's if dwell records it (a CUDA device was made here, or `dwell run`), and nothing waits for
each operator; else it is the CPU's time of the launch. A process has one time profiling,
whichever of its devices is asked.
"""
import ctypes
import warnings
from collections.abc import Iterable

from .. import _native as native

__all__ = ["Device", "create_cpu_device", "create_cuda_gpu", "create_cuda_gpu_on", "create_cuda_gpus",
           "create_cuda_gpus_on", "get_default_device"]

_SKIP_ITERATION = 5
_MOST_DEVICES = 65536

_error_p = ctypes.POINTER(native._Error)
_FUNCTIONS = {
    "dwell_singa_set_verbosity": (ctypes.c_int, ctypes.c_int, _error_p),
    "dwell_singa_set_skip_iteration": (None, native.u64),
    "dwell_singa_print_time_profiling": (ctypes.c_int, native.pointer, _error_p),
}
_profiling = native.later("dwell-singa", _FUNCTIONS, needs=native.read)


class Device:
    """What the program says a device is: nothing is allocated or moved."""

    def __init__(self, kind: str, index: int) -> None:
        self._kind, self._index, self._graph = kind, index, False

    def __repr__(self):
        return f"<{self._kind} device {self._index} of dwell.singa>"

    def id(self) -> int:
        """The number it was made with; of the CPU -1."""
        return self._index

    def SetVerbosity(self, verbosity: int) -> None:
        """What is recorded from here on: 0 nothing, 1 forward and backward propagation, 2 each
        operation, 3 the distributed operations. Error for another number. Without a session
        one is started, whose trace is a file in the current folder."""
        native.check(_profiling().dwell_singa_set_verbosity, native.whole(verbosity, "verbosity", -1, 2**31 - 1))
        native.follow_gate()
        if verbosity and self._kind == "CUDA":
            native.devices.attach()
        native.devices.follow()

    def SetSkipIteration(self, skip_iteration: int) -> None:
        """How many of the first iterations are not in the means; 5 without this call."""
        skip_iteration = native.whole(skip_iteration, "skip_iteration", -2**63)
        if skip_iteration < 0:
            raise ValueError(f"{skip_iteration} iterations cannot be skipped: 0 or more")
        _profiling().dwell_singa_set_skip_iteration(skip_iteration)

    def PrintTimeProfiling(self) -> None:
        """Prints what the iterations so far took on average, in seconds; at verbosity 0 nothing.
        Error when no iteration is left beyond the skipped ones; a warning when the iterations'
        operations differ. Waits for the GPU once."""
        native.devices.wait()
        native.devices.follow(flush=True)
        text = native.printed(_profiling().dwell_singa_print_time_profiling,
                              note=lambda said: warnings.warn(said, stacklevel=5))
        print(text, end="", flush=True)

    def EnableGraph(self, enable: bool) -> None:
        """Taken down, for graph_enabled(). PyTorch runs its operators as they come, and they are
        what is timed, with a graph or without."""
        self._graph = bool(enable)

    def graph_enabled(self) -> bool:
        """What EnableGraph() was told last."""
        return self._graph

    def Reset(self) -> None:
        """As after its making: verbosity 0, 5 iterations to be skipped, no graph."""
        self.SetVerbosity(0)
        self.SetSkipIteration(_SKIP_ITERATION)
        self._graph = False


_default = Device("CPU", -1)


def get_default_device() -> Device:
    """The CPU."""
    return _default


def create_cpu_device() -> Device:
    """The CPU, which is one."""
    return _default


def create_cuda_gpus_on(device_ids: Iterable[int]) -> list[Device]:
    """A list of devices with these numbers. They need not be there."""
    return [Device("CUDA", index) for index in device_ids]


def create_cuda_gpus(num: int) -> list[Device]:
    """A list of `num` devices, from 0 on."""
    return create_cuda_gpus_on(range(native.whole(num, "num", 0, _MOST_DEVICES)))


def create_cuda_gpu_on(device_id: int, set_default: bool = True) -> Device:
    """The device with this number; `set_default` has no meaning here."""
    return Device("CUDA", device_id)


def create_cuda_gpu(set_default: bool = True) -> Device:
    """Device 0."""
    return create_cuda_gpu_on(0)
