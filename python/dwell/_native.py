"""The C libraries as Python sees them: found, declared, errors as exceptions.

libdwell records and is the same one that `dwell run` loads; libdwell-read is loaded when
somebody asks for results. Structures here repeat <dwell/dwell.h> and <dwell/trace.h>
field by field.
"""
import contextlib
import ctypes
import ctypes.util
import functools
import os
import sys

u8, u32, u64, size_t = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
i64, text, pointer, boolean = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_bool

MASK_NONE = 1 << 31


class Error(RuntimeError):
    """What dwell says is wrong: the place and the remedy. `code` is one of DWELL_E_*."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 512)]


class Schedule(ctypes.Structure):
    _fields_ = [(name, u32) for name in
                ("skip_first", "skip_first_wait", "wait", "warmup", "active", "repeat")]


class Options(ctypes.Structure):
    _fields_ = [("size", size_t), ("path", text), ("overwrite", boolean), ("keep", ctypes.c_int),
                ("max_size_bytes", u64), ("categories", u32), ("steps_from", u64),
                ("steps_to", u64), ("schedule", Schedule), ("layers", text)]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(Options), steps_to=2**64 - 1, **fields)


class Result(ctypes.Structure):
    _fields_ = [("path", text), ("id", u32), ("cycle", u64), ("step_num", u64)]


ACTION = ctypes.CFUNCTYPE(ctypes.c_int, u64, pointer)
READY = ctypes.CFUNCTYPE(None, pointer, ctypes.POINTER(Result), pointer)


class ProfileOptions(ctypes.Structure):
    _fields_ = [("size", size_t), ("name", text), ("activities", ctypes.c_uint),
                ("record_shapes", boolean), ("profile_memory", boolean), ("with_stack", boolean),
                ("with_flops", boolean), ("with_functions", boolean), ("schedule", Schedule), ("action", ACTION),
                ("on_trace_ready", READY), ("background", boolean), ("context", pointer),
                ("categories", u32)]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(ProfileOptions), **fields)


class Scope(ctypes.Structure):
    _fields_ = [("size", size_t), ("has_steps", boolean), ("steps_from", u64), ("steps_to", u64),
                ("thread", text), ("profile", text), ("profile_id", u32), ("action", text)]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(Scope), **fields)


class ViewOptions(ctypes.Structure):
    # [tools/generate view_fields] from src/output/views/view_options.def: do not edit
    _fields_ = [("size", size_t), ("sort", text), ("limit", size_t), ("group_by", text),
                ("top_level", boolean), ("engine", text), ("has_skip_iteration", boolean),
                ("skip_iteration", u64), ("events", boolean), ("paths", text), ("leaves", boolean),
                ("per_call", boolean), ("header", text), ("widths", text), ("has_verbosity", boolean),
                ("verbosity", u64), ("time_unit", text), ("all", boolean), ("named", text),
                ("min_duration", text), ("merge_threads", boolean)]
    # [tools/generate end]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(ViewOptions), **fields)


ALL_ROWS = size_t(-1).value
NO_ROWS = ALL_ROWS - 1


def view_options(limit=None, **options):
    """The structure of options as Python's users give them: a limit of None means all rows, any
    other None that the option is not given."""
    fields = {"limit": ALL_ROWS if limit is None or limit < 0 else limit or NO_ROWS}
    for name, value in options.items():
        if value is None:
            continue
        fields[name] = encoded(value) if isinstance(value, str) else value
        if hasattr(ViewOptions, "has_" + name):
            fields["has_" + name] = True
    return ViewOptions(**fields)


def column_widths(max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80):
    """The option `widths` of torch's table; None: as wide as the texts are."""
    widths = (("source", max_src_column_width), ("name", max_name_column_width),
              ("shapes", max_shapes_column_width))
    return ",".join(f"{column}={100000 if width is None else width}" for column, width in widths)


class PrintOptions(ctypes.Structure):
    _fields_ = [("size", size_t), ("format", text), ("width", ctypes.c_uint), ("color", boolean),
                ("utf8", boolean), ("time_unit", text)]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(PrintOptions), **fields)


class ExportOptions(ctypes.Structure):
    _fields_ = [("size", size_t), ("metric", text), ("title", text)]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(ExportOptions), **fields)


class Tensor(ctypes.Structure):
    _fields_ = [("sizes", ctypes.POINTER(i64)), ("dimensions", u8), ("dtype", u8)]


class Frame(ctypes.Structure):
    _fields_ = [("function", text), ("file", text), ("line", u32)]


class Event(ctypes.Structure):
    _fields_ = [("type", u32), ("category", u32), ("name", text), ("detail", text), ("pid", u32),
                ("tid", u32), ("depth", u32), ("open", boolean), ("start_ns", u64),
                ("end_ns", u64), ("handle", u64), ("size_bytes", u64),
                ("value", ctypes.c_double), ("sequence_number", u64), ("forward_tid", u32),
                ("tensor_count", u32), ("tensors", ctypes.POINTER(Tensor)),
                ("stack", ctypes.POINTER(Frame)), ("stack_depth", u32), ("args", text)]


EACH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Event), pointer)

_error_p = ctypes.POINTER(_Error)
_RECORD = {
    "dwell_version": (text,),
    "dwell_start": (ctypes.c_int, ctypes.POINTER(Options), _error_p),
    "dwell_stop": (ctypes.c_int, _error_p),
    "dwell_active": (boolean,),
    "dwell_trace_path": (text,),
    "dwell_step": (None,),
    "dwell_step_begin": (None,),
    "dwell_step_end": (None,),
    "dwell_steps_begun": (u64,),
    "dwell_meta": (None, text, text),
    "dwell_meta_json": (None, text, text),
    "dwell_intern": (u32, ctypes.c_int, text, text),
    "dwell_counter": (None, pointer, ctypes.c_double),
    "dwell_mark": (None, pointer),
    "dwell_begin_id": (ctypes.c_uint, u32, ctypes.c_int),
    "dwell_end_id": (None, ctypes.c_uint),
    "dwell_schedule_action": (ctypes.c_int, ctypes.POINTER(Schedule), u64),
    "dwell_serve_start": (ctypes.c_int, ctypes.c_uint, _error_p),
    "dwell_serve_stop": (None,),
    "dwell_profile_create": (pointer, ctypes.POINTER(ProfileOptions), _error_p),
    "dwell_profile_destroy": (None, pointer),
    "dwell_profile_start": (ctypes.c_int, pointer, _error_p),
    "dwell_profile_step": (ctypes.c_int, pointer, _error_p),
    "dwell_profile_stop": (ctypes.c_int, pointer, _error_p),
    "dwell_profile_step_num": (u64, pointer),
    "dwell_profile_action": (ctypes.c_int, pointer),
    "dwell_profile_result": (ctypes.c_int, pointer, ctypes.POINTER(Result), _error_p),
    "dwell_profile_warning": (text, pointer),
}
_pp = ctypes.POINTER(pointer)
_READ = {
    "dwell_trace_open": (ctypes.c_int, _pp, ctypes.POINTER(text), size_t, pointer, _error_p),
    "dwell_trace_open_result": (ctypes.c_int, _pp, ctypes.POINTER(Result), _error_p),
    "dwell_trace_close": (None, pointer),
    "dwell_trace_view": (ctypes.c_int, pointer, text, ctypes.POINTER(ViewOptions), _pp, _error_p),
    "dwell_trace_summary": (ctypes.c_int, pointer, text, pointer, _error_p),
    "dwell_table_destroy": (None, pointer),
    "dwell_table_print": (ctypes.c_int, _pp, size_t, pointer, ctypes.POINTER(PrintOptions),
                          _error_p),
    "dwell_trace_layout": (ctypes.c_int, pointer, text, ctypes.POINTER(ViewOptions), pointer,
                           _error_p),
    "dwell_trace_export": (ctypes.c_int, pointer, text, text, ctypes.POINTER(ExportOptions),
                           _error_p),
    "dwell_trace_events": (ctypes.c_int, pointer, EACH, pointer, _error_p),
}


def home():
    """The folder of libdwell, or None: it is not loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return next((os.path.dirname(line.split()[-1]) for line in maps if "/libdwell.so." in line), None)


def _load(name, functions, mode):
    # In the folder of the libdwell that `dwell run` has loaded, in the package, in LIBDIR of
    # LIBDIR/dwell/python/dwell, or where the loader looks. The folder above a checkout of the
    # sources is not LIBDIR.
    found = f"lib{name}.so.0"
    here = os.path.dirname(__file__)
    checkout = os.path.exists(os.path.join(here, "../../meson.build"))
    for folder in filter(None, (home(), "lib", None if checkout else "../../..")):
        path = os.path.normpath(os.path.join(here, folder, f"lib{name}.so.0"))
        if os.path.exists(path):
            found = path
            break
    try:
        library = ctypes.CDLL(found, mode=mode)
    except OSError as error:
        raise ImportError(f"dwell's library {found} cannot be loaded ({error}): install dwell, or "
                          f"set LD_LIBRARY_PATH to the folder of lib{name}.so.0") from None
    for function, (result, *arguments) in functions.items():
        entry = getattr(library, function, None)
        if entry is None:
            raise ImportError(f"dwell's library {found} is of another version than the package {here}: "
                              "install both of one version")
        entry.restype, entry.argtypes = result, arguments
    return library


def _attach():
    """Lets libdwell-python, beside libdwell, watch this interpreter and PyTorch. Returns what
    is to be called when the gate may have changed, what lists a module's layer paths, and the
    library (None: it was not built, or not for this interpreter)."""
    if "free-threading" in sys.version:
        return lambda: None, lambda module, name: [], None
    for folder in ("dwell", "probes"):
        path = os.path.join(home(), folder, "libdwell-python.so")
        if os.path.exists(path):
            probe = ctypes.PyDLL(path)
            probe.dwp_python_attach()
            probe.dwp_python_layer_paths.restype = ctypes.py_object
            probe.dwp_python_layer_paths.argtypes = [ctypes.py_object, ctypes.c_int]
            return probe.dwp_python_follow_gate, probe.dwp_python_layer_paths, probe
    return lambda: None, lambda module, name: [], None


def probe_path(name):
    """The file of a probe, libdwell-NAME.so, or None."""
    paths = (os.path.join(home(), folder, f"libdwell-{name}.so") for folder in ("dwell", f"probes/{name}"))
    return next((path for path in paths if os.path.exists(path)), None)


class _Devices:
    """The work of NVIDIA's devices in this process, if something asked for it: libdwell-cuda."""

    def __init__(self):
        self._library = None
        self.lacks = None  # why devices are not recorded

    def attach(self):
        """Has devices recorded in this process, as `dwell run` does. Returns why not, or None."""
        if self._library is None:
            self._library = self._load()
        self.lacks = "libdwell-cuda.so is not there"
        if self._library:
            why = self._library.dwc_process_attach()
            self.lacks = why.decode(errors="replace") if why else None
        return self.lacks

    def _load(self):
        path = probe_path("cuda")
        if not path:
            return False
        library = ctypes.CDLL(path)
        library.dwc_process_attach.restype, library.dwc_process_attach.argtypes = text, []
        library.dwc_process_follow.restype, library.dwc_process_follow.argtypes = None, [ctypes.c_int]
        return library

    def follow(self, flush=False):
        """The gate may have changed. `flush`: what has ended is in the trace afterwards."""
        if self._library and self.lacks is None:
            self._library.dwc_process_follow(flush)

    def wait(self):
        """Until the devices have done what they were given, as torch.profiler does at a profile's end."""
        torch = sys.modules.get("torch")
        if self._library and self.lacks is None and torch is not None and torch.cuda.is_initialized():
            torch.cuda.synchronize()


record = _load("dwell", _RECORD, ctypes.RTLD_GLOBAL)
devices = _Devices()
follow_gate, layer_paths, python_probe = _attach()
_libc = ctypes.CDLL(None)
_libc.open_memstream.restype = pointer
_libc.open_memstream.argtypes = [ctypes.POINTER(pointer), ctypes.POINTER(size_t)]
_libc.fclose.argtypes = [pointer]
_libc.free.argtypes = [pointer]


def later(name, functions, needs=None):
    """A function that returns a library, which is loaded at its first call, after what it needs."""
    @functools.cache
    def library():
        if needs:
            needs()
        return _load(name, functions, ctypes.RTLD_LOCAL)
    return library


read = later("dwell-read", _READ)


@contextlib.contextmanager
def opened(path, scope):
    """A trace of this process, opened for the block."""
    trace = pointer()
    check(read().dwell_trace_open, ctypes.byref(trace), ctypes.byref(text(path)), 1, ctypes.byref(scope))
    try:
        yield trace
    finally:
        read().dwell_trace_close(trace)


def check(function, *arguments, note=None):
    """Calls a function whose last argument is a struct dwell_error *; raises Error. What it
    says when it succeeds goes to `note`."""
    error = _Error()
    result = function(*arguments, ctypes.byref(error))
    if (result is None or result < 0) and error.code:
        raise Error(error.code, error.message.decode(errors="replace"))
    if note and error.message:
        note(error.message.decode(errors="replace"))
    return result


def printed(function, *arguments, after=(), note=None):
    """What a function writes to the FILE * between `arguments` and `after`."""
    buffer, size = pointer(), size_t()
    file = _libc.open_memstream(ctypes.byref(buffer), ctypes.byref(size))
    try:
        check(function, *arguments, file, *after, note=note)
    finally:
        _libc.fclose(file)
        output = ctypes.string_at(buffer, size.value) if buffer else b""
        _libc.free(buffer)
    return output.decode(errors="replace")


def encoded(value):
    """A Python string, bytes or None as C takes it."""
    return value if value is None or isinstance(value, bytes) else str(value).encode()
