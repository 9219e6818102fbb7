"""The C libraries as Python sees them: found, declared, errors as exceptions.

libdwell records and is the same one that `dwell run` loads; libdwell-read is loaded when
somebody asks for results. Structures here repeat <dwell/dwell.h> and <dwell/trace.h>
field by field.
"""
import contextlib
import ctypes
import ctypes.util
import functools
import operator
import os
import sys
import threading

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
                ("thread", text), ("profile", text), ("profile_id", u32), ("action", text),
                ("has_time", boolean), ("from_ns", u64), ("to_ns", u64)]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(Scope), **fields)


class ViewOptions(ctypes.Structure):
    # [tools/generate view_fields] from src/output/views/view_options.def: do not edit
    _fields_ = [("size", size_t), ("sort", text), ("limit", size_t), ("group_by", text),
                ("top_level", boolean), ("engine", text), ("has_skip_iteration", boolean),
                ("skip_iteration", u64), ("events", boolean), ("paths", text), ("leaves", boolean),
                ("per_call", boolean), ("header", text), ("widths", text), ("has_verbosity", boolean),
                ("verbosity", u64), ("time_unit", text), ("all", boolean), ("named", text),
                ("min_duration", text), ("merge_threads", boolean), ("ranges", text)]
    # [tools/generate end]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(ViewOptions), **fields)


ALL_ROWS = size_t(-1).value
NO_ROWS = ALL_ROWS - 1


def whole(value, name, least=0, most=2**64 - 1):
    """A whole number from `least` to `most`, which C takes as it is."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a {type(value).__name__}: give a whole number") from None
    if number < least:
        raise ValueError(f"{name}={number}: give a number of {least} or more")
    if number > most:
        raise ValueError(f"{name}={number}: give a number of at most {most}")
    return number


def encoded(value, name="name"):
    """A Python text, bytes or None as C takes it. Surrogates are what os.fsdecode() made of bytes."""
    if value is not None and not isinstance(value, bytes):
        value = str(value)
        try:
            value = value.encode(errors="surrogateescape")
        except UnicodeEncodeError:
            value = value.encode(errors="backslashreplace")
    if value is not None and b"\0" in value:
        raise ValueError(f"{name} has a NUL character: give a text without one")
    return value


def encoded_text(value, name):
    """The same of an argument that must be a text."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is a {type(value).__name__}: give a text")
    return encoded(value, name)


def encoded_path(path):
    """A path as C takes it."""
    return encoded(os.fsencode(path), "path")


_OPTION_KINDS = dict(ViewOptions._fields_)


def _view_option(name, value):
    kind = _OPTION_KINDS[name]
    if kind is text:
        return encoded_text(value, name)
    return bool(value) if kind is boolean else whole(value, name)


def view_options(limit=None, **options):
    """The structure of options as Python's users give them: a limit of None means all rows, any
    other None that the option is not given."""
    limit = -1 if limit is None else whole(limit, "limit", -2**63, NO_ROWS - 1)
    fields = {"limit": ALL_ROWS if limit < 0 else limit or NO_ROWS}
    for name, value in options.items():
        if value is None:
            continue
        fields[name] = _view_option(name, value)
        if "has_" + name in _OPTION_KINDS:
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
                ("stack", ctypes.POINTER(Frame)), ("stack_depth", u32), ("args", text), ("flops", i64)]


EACH_ROWS = ctypes.CFUNCTYPE(ctypes.c_int, text, pointer, pointer, pointer)
EACH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Event), pointer)


class Owned:
    """What a function of C made, destroyed with its last reference. As an argument of a function of C
    it is checked: an object of another kind would be another structure there."""

    __slots__ = ("_address", "lock", "_keeps", "__weakref__")

    @staticmethod
    def _destroy(address):
        """The function of C, of a derived class."""
        raise NotImplementedError

    def __init__(self, address, keeps=None):
        if hasattr(self, "_address") or not isinstance(address, pointer):
            raise TypeError(f"{type(self).__name__} is made by dwell: take that of a profile")
        self._address = address.value
        self.lock = threading.RLock()  # C has one thread at a time in an object
        self._keeps = keeps  # what C has pointers to

    @classmethod
    def from_param(cls, value):
        if not isinstance(value, cls) or getattr(value, "_address", None) is None:
            raise TypeError(f"{cls.__name__} was expected, not {value!r}")
        return pointer(value._address)

    def __reduce_ex__(self, protocol):
        raise TypeError(f"{type(self).__name__} cannot be copied or pickled: it is of this process")

    def _release(self):
        """Destroys it now."""
        address, self._address = self._address, None
        if address is not None:
            self._destroy(address)

    def __del__(self, is_finalizing=sys.is_finalizing):
        # A default is there also when modules are empty already, at the interpreter's end.
        if hasattr(self, "_address") and not is_finalizing():
            self._release()


class ProfileHandle(Owned):
    """A struct dwell_profile."""
    __slots__ = ()

    @staticmethod
    def _destroy(address):
        record.dwell_profile_destroy(address)


class Table(Owned):
    """A struct dwell_table."""
    __slots__ = ()

    @staticmethod
    def _destroy(address):
        read().dwell_table_destroy(address)

    def text(self, form, width=0, utf8=True):
        """The table as "text", "csv", "json", "md" or "html"."""
        options = PrintOptions(format=encoded_text(form, "form"), width=whole(width, "width", 0, 2**31 - 1), utf8=utf8)
        return printed(read().dwell_table_print, ctypes.byref(self.from_param(self)), 1,
                       after=(ctypes.byref(options),))


class Trace(Owned):
    """A trace of this process, opened on a part of it. Closed with its last reference, or by close()."""
    __slots__ = ()

    @staticmethod
    def _destroy(address):
        read().dwell_trace_close(address)

    @classmethod
    def opened(cls, function, *arguments):
        """What a function that opens a trace opens."""
        trace = pointer()
        check(function, ctypes.byref(trace), *arguments)
        return cls(trace)

    def close(self):
        """Frees what is read of the trace. Lists of events and views that exist remain as they are."""
        with self.lock:
            self._release()

    def call(self, function, *arguments, note=None):
        """Calls a function of the trace that may fail."""
        with self.lock:
            return check(function, self._checked(), *arguments, note=note)

    def printed(self, function, *arguments, after=()):
        """What such a function prints."""
        with self.lock:
            return printed(function, self._checked(), *arguments, after=after)

    def _checked(self):
        if self._address is None:
            raise ValueError("the trace is closed: read it before close()")
        return self

    def view(self, name, options):
        """The table of a view."""
        table = pointer()
        self.call(read().dwell_trace_view, encoded_text(name, "name"), ctypes.byref(options), ctypes.byref(table))
        return Table(table)

    def layout(self, name, options):
        """What another profiler would print."""
        return self.printed(read().dwell_trace_layout, name, ctypes.byref(options))

    def export(self, form, path, **options):
        """Writes the trace for another tool."""
        given = ExportOptions(**{name: encoded(value, name) for name, value in options.items()})
        self.call(read().dwell_trace_export, form, encoded_path(path), ctypes.byref(given))


def trace_of(trace):
    """What a function got as a trace: one that is open, or the path of one, which is opened for it."""
    if isinstance(trace, (str, bytes, os.PathLike)):
        return open_trace(trace)
    if not isinstance(trace, Trace):
        raise TypeError(f"trace is a {type(trace).__name__}: give the path of a trace, or a profile's `trace`")
    return trace


def open_trace(path, scope=None):
    """The trace at a path."""
    return Trace.opened(read().dwell_trace_open, ctypes.byref(text(encoded_path(path))), 1,
                        ctypes.byref(scope) if scope else None)


def open_result(result):
    """The part of a trace that is one cycle of a profile."""
    return Trace.opened(read().dwell_trace_open_result, ctypes.byref(result))


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
    "dwell_async_begin": (None, pointer, u64),
    "dwell_async_end": (None, pointer, u64),
    "dwell_tokens": (None, pointer, u64, u32),
    "dwell_begin_id": (ctypes.c_uint, u32, ctypes.c_int),
    "dwell_end_id": (None, ctypes.c_uint),
    "dwell_end_named_of": (None, u32, u32),
    "dwell_probe_lost": (None, u64),
    "dwell_schedule_action": (ctypes.c_int, ctypes.POINTER(Schedule), u64),
    "dwell_serve_start": (ctypes.c_int, ctypes.c_uint, _error_p),
    "dwell_serve_stop": (None,),
    "dwell_profile_create": (pointer, ctypes.POINTER(ProfileOptions), _error_p),
    "dwell_profile_destroy": (None, pointer),
    "dwell_profile_start": (ctypes.c_int, ProfileHandle, _error_p),
    "dwell_profile_step": (ctypes.c_int, ProfileHandle, _error_p),
    "dwell_profile_stop": (ctypes.c_int, ProfileHandle, _error_p),
    "dwell_profile_step_num": (u64, ProfileHandle),
    "dwell_profile_action": (ctypes.c_int, ProfileHandle),
    "dwell_profile_result": (ctypes.c_int, ProfileHandle, ctypes.POINTER(Result), _error_p),
    "dwell_profile_warning": (text, ProfileHandle),
}
_pp = ctypes.POINTER(pointer)
_READ = {
    "dwell_trace_open": (ctypes.c_int, _pp, ctypes.POINTER(text), size_t, ctypes.POINTER(Scope), _error_p),
    "dwell_trace_open_result": (ctypes.c_int, _pp, ctypes.POINTER(Result), _error_p),
    "dwell_trace_close": (None, pointer),
    "dwell_trace_view": (ctypes.c_int, Trace, text, ctypes.POINTER(ViewOptions), _pp, _error_p),
    "dwell_trace_summary": (ctypes.c_int, Trace, text, pointer, _error_p),
    "dwell_table_destroy": (None, pointer),
    "dwell_table_print": (ctypes.c_int, _pp, size_t, pointer, ctypes.POINTER(PrintOptions),
                          _error_p),
    "dwell_trace_layout": (ctypes.c_int, Trace, text, ctypes.POINTER(ViewOptions), pointer,
                           _error_p),
    "dwell_trace_export": (ctypes.c_int, Trace, text, text, ctypes.POINTER(ExportOptions),
                           _error_p),
    "dwell_trace_events": (ctypes.c_int, Trace, EACH, pointer, _error_p),
    "dwell_trace_query": (ctypes.c_int, Trace, text, u64, _pp, _error_p),
    "dwell_trace_columns": (ctypes.c_int, Trace, text, boolean, EACH_ROWS, pointer, _error_p),
    "dwell_table_columns": (ctypes.c_int, Table, pointer, pointer, _error_p),
    "dwell_view_name": (text, size_t, ctypes.POINTER(text)),
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
# For what is called often: without argument types a call of ctypes takes half as long, and these functions
# neither wait nor need other threads to run.
quick = ctypes.PyDLL(record._name)
quick.dwell_end_id.restype = None
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
    trace = open_trace(path, scope)
    try:
        yield trace
    finally:
        trace.close()


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
