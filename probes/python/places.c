/*
 * Which line of the program's Python a thread is at: layouts, code objects, lines. See places.h.
 *
 * The layout of frames differs between versions of Python; format/python_frames.h knows it. Before it is used, a function
 * of our own is examined: what the layout leads to must be what Python itself answers for two nested calls. Until then
 * memory is read by a system call, which fails where a wrong layout would end the program. If anything differs, no lines
 * are recorded. Before 3.11 an instruction has no address, and its lines are not recorded.
 *
 * Code objects are learned in a pending call, which the interpreter makes in its main thread, with
 * its lock, soon after the operator. It learns all codes that are on the stack at that time, and
 * those within them. If it misses a code object several times, walks skip that one.
 */
#include "places.h"
#include "python.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "format/python_frames.h"

/* Every CPython since 3.9 exports these, but they are not part of its limited API. */
PyAPI_FUNC(PyThreadState *) PyGILState_GetThisThreadState(void);
PyAPI_FUNC(PyFrameObject *) PyThreadState_GetFrame(PyThreadState *thread);
PyAPI_FUNC(PyFrameObject *) PyFrame_GetBack(PyFrameObject *frame);

#define MOST_CODES (DWP_PLACES_CODES / 2)
#define MOST_DEPTH 8  /* of functions within functions */
#define MOST_TRIES 16 /* pending calls that do not find a code on the stack */

struct dwp_places_layout dwp_places_layout;
uintptr_t dwp_places_codes[DWP_PLACES_CODES];

/* What is known of a code of the program's own. `file` and `function` follow the lines. */
struct own_code {
	const char *file, *function;
	uint32_t count;
	struct line {
		uint32_t end;  /* offset of the first instruction behind it, in bytes */
		uint32_t line; /* 0: none */
		uint32_t id;   /* atomic; FRAME; 0: not needed yet */
	} lines[];
};

static struct own_code *own_codes[DWP_PLACES_CODES]; /* as dwp_places_codes */
static uint32_t code_count;
static bool works, full;
static int requested; /* atomic; a pending call has not run yet */
static const PyTypeObject *code_type;
static char libraries[3][1024]; /* folders: of Python's library, of PyTorch, of the package dwell */

/* ---- the table of codes ------------------------------------------------------------------- */

/* The slot of a code, or the free slot where it belongs. */
static uint32_t places_find(uintptr_t code)
{
	uint32_t at = dwp_places_slot(code);
	uintptr_t known;

	while ((known = __atomic_load_n(&dwp_places_codes[at], __ATOMIC_ACQUIRE)) != 0 &&
	       (known & ~(uintptr_t)1) != code)
		at = (at + 1) % DWP_PLACES_CODES;
	return at;
}

static int places_learn_stack(void *unused);

static enum dwp_places_kind places_request(uintptr_t code)
{
	static uint8_t tries[256];
	uint8_t *tried = &tries[dwp_places_slot(code) % 256];

	if (full || *tried >= MOST_TRIES)
		return DWP_PLACES_LIBRARY;
	if (!__atomic_exchange_n(&requested, 1, __ATOMIC_RELAXED)) {
		++*tried;
		if (Py_AddPendingCall(places_learn_stack, NULL) != 0)
			__atomic_store_n(&requested, 0, __ATOMIC_RELAXED);
	}
	return DWP_PLACES_UNKNOWN;
}

enum dwp_places_kind dwp_places_look(uintptr_t code)
{
	uintptr_t known = dwp_places_codes[places_find(code)];

	if (!known)
		return places_request(code);
	return known & 1 ? DWP_PLACES_OWN : DWP_PLACES_LIBRARY;
}

/* ---- whose code it is ---------------------------------------------------------------------- */

static bool places_is_within(const char *file, const char *folder)
{
	size_t length = strlen(folder);

	return length && strncmp(file, folder, length) == 0 && file[length] == '/';
}

/* A file's name in angle brackets is no file. Scripts given as text and cells of notebooks are the
 * program's; what libraries generate is not. */
static bool places_is_own(const char *file)
{
	static const char *const texts[] = { "<string>", "<stdin>", "<ipython-input", "<cell" };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strncmp(file, texts[i], strlen(texts[i])) == 0)
			return true;
	if (!*file || *file == '<' || strstr(file, "/site-packages/") || strstr(file, "/dist-packages/"))
		return false;
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (places_is_within(file, libraries[i]))
			return false;
	return true;
}

static void places_find_libraries(void)
{
	static const char *const modules[] = { "os", "torch", "dwell" };

	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		PyObject *name = *libraries[i] ? NULL : PyUnicode_FromString(modules[i]);
		PyObject *module = name ? PyImport_GetModule(name) : NULL;
		char *slash;

		if (module) {
			dwp_python_text(module, "__file__", libraries[i], sizeof libraries[i]);
			slash = strrchr(libraries[i], '/');
			if (slash)
				*slash = '\0';
		}
		Py_XDECREF(module);
		Py_XDECREF(name);
		PyErr_Clear();
	}
}

/* ---- learning ------------------------------------------------------------------------------ */

static uint32_t places_number(PyObject *tuple, Py_ssize_t at)
{
	PyObject *item = PyTuple_GetItem(tuple, at);
	long number = item && item != Py_None ? PyLong_AsLong(item) : 0;

	return number > 0 ? (uint32_t)number : 0;
}

/* The ranges of instructions with their lines, in order of the instructions. NULL: failed. */
static struct own_code *places_read_lines(PyObject *code, size_t text_bytes)
{
	PyObject *method = PyObject_GetAttrString(code, "co_lines");
	PyObject *lines = method ? PyObject_CallObject(method, NULL) : NULL;
	PyObject *list = lines ? PySequence_List(lines) : NULL;
	Py_ssize_t count = list ? PyList_Size(list) : 0;
	struct own_code *own =
	    list ? calloc(1, sizeof *own + (size_t)count * sizeof own->lines[0] + text_bytes) : NULL;

	for (Py_ssize_t i = 0; own && i < count; i++) {
		PyObject *range = PyList_GetItem(list, i);

		if (!PyTuple_Check(range) || PyTuple_Size(range) != 3)
			continue;
		own->lines[own->count].end = places_number(range, 1);
		own->lines[own->count++].line = places_number(range, 2);
	}
	Py_XDECREF(list);
	Py_XDECREF(lines);
	Py_XDECREF(method);
	return own;
}

static struct own_code *places_read_own(PyObject *code, const char *file)
{
	size_t file_bytes = strlen(file) + 1, name_bytes;
	struct own_code *own;
	char name[256], *text;

	dwp_python_text(code, "co_qualname", name, sizeof name);
	if (!*name)
		dwp_python_text(code, "co_name", name, sizeof name);
	name_bytes = strlen(name) + 1;
	own = places_read_lines(code, file_bytes + name_bytes);
	if (!own)
		return NULL;
	text = (char *)&own->lines[own->count];
	own->file = memcpy(text, file, file_bytes);
	own->function = memcpy(text + file_bytes, name, name_bytes);
	return own;
}

static void places_learn(PyObject *code, unsigned depth);

/* The functions and classes within a code. Some, as a lambda of one expression, end before a pending call
 * could find them on the stack. */
static void places_learn_inner(PyObject *code, unsigned depth)
{
	PyObject *constants = depth < MOST_DEPTH ? PyObject_GetAttrString(code, "co_consts") : NULL;

	for (Py_ssize_t i = 0; constants && PyTuple_Check(constants) && i < PyTuple_Size(constants); i++)
		if (Py_TYPE(PyTuple_GetItem(constants, i)) == code_type)
			places_learn(PyTuple_GetItem(constants, i), depth + 1);
	Py_XDECREF(constants);
	PyErr_Clear();
}

/* What is no code of a program stands in frames between Python and C: it is passed over. */
static void places_learn(PyObject *code, unsigned depth)
{
	uint32_t at = places_find((uintptr_t)code);
	struct own_code *own = NULL;
	char file[1024] = "";

	if (dwp_places_codes[at] || full)
		return;
	if (dwp_python_is_code(code, code_type))
		dwp_python_text(code, "co_filename", file, sizeof file);
	if (places_is_own(file) && !(own = places_read_own(code, file)))
		return;
	Py_IncRef(code); /* not the macro, which would write into a constant */
	own_codes[at] = own;
	full = ++code_count >= MOST_CODES;
	/* Pairs with the acquire of walks: own_codes[at] is set. */
	__atomic_store_n(&dwp_places_codes[at], (uintptr_t)code | (own != NULL), __ATOMIC_RELEASE);
	if (own)
		places_learn_inner(code, depth);
}

static int places_learn_stack(void *unused)
{
	const struct dwp_places_layout *layout = &dwp_places_layout;
	const char *thread = dwp_places_thread(), *frame;
	PyObject *type, *value, *trace;

	__atomic_store_n(&requested, 0, __ATOMIC_RELAXED);
	if (!thread)
		return 0;
	PyErr_Fetch(&type, &value, &trace);
	places_find_libraries();
	frame = DWP_PLACES_POINTER(thread, layout->state);
	if (layout->indirect)
		frame = DWP_PLACES_POINTER(frame, layout->current);
	for (unsigned hop = 0; frame && hop < DWP_PLACES_HOPS; hop++) {
		const char *code = DWP_PLACES_CODE(frame);

		/* places_learn() may run other code, but this frame and those around it stay. */
		if (code)
			places_learn((PyObject *)(uintptr_t)code, 0);
		frame = DWP_PLACES_POINTER(frame, layout->previous);
	}
	PyErr_Clear();
	PyErr_Restore(type, value, trace);
	return 0;
}

bool dwp_places_is_own_code(const char *code)
{
	uintptr_t known = dwp_places_codes[places_find((uintptr_t)code)];

	if (!known) {
		places_learn_stack(NULL);
		known = dwp_places_codes[places_find((uintptr_t)code)];
	}
	return known & 1;
}

/* ---- lines --------------------------------------------------------------------------------- */

uint32_t dwp_places_frame(struct dwp_place place)
{
	struct own_code *own = place.code ? own_codes[places_find((uintptr_t)place.code)] : NULL;
	uint32_t offset, low = 0, high, id;

	if (!own || place.at < place.code + dwp_places_layout.first)
		return 0;
	offset = (uint32_t)(place.at - place.code - dwp_places_layout.first);
	for (high = own->count; low < high;) {
		uint32_t middle = (low + high) / 2;

		if (own->lines[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == own->count || !own->lines[low].line)
		return 0;
	id = __atomic_load_n(&own->lines[low].id, __ATOMIC_RELAXED);
	if (!id) {
		id = dwell_intern_frame(own->function, own->file, own->lines[low].line);
		__atomic_store_n(&own->lines[low].id, id, __ATOMIC_RELAXED);
	}
	return id;
}

/* ---- finding the layout ----------------------------------------------------------------------- */

static const char *places_read_pointer(const char *object, uint32_t offset)
{
	const char *pointer = NULL;
	struct iovec to = { &pointer, sizeof pointer };
	struct iovec from = { (void *)(uintptr_t)(object + offset), sizeof pointer };

	if (!object || process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)sizeof pointer)
		return NULL;
	return pointer;
}

/* Compares a frame with what Python says of it. Returns the offset of the first instruction in the
 * code; 0: they differ. */
static uint32_t places_compare_frame(const struct dwp_places_layout *layout, const char *frame, PyFrameObject *object)
{
	int (*last)(PyFrameObject *) = NULL;
	PyObject *code = (PyObject *)PyFrame_GetCode(object);
	const char *at = places_read_pointer(frame, layout->instruction), *address = (const char *)code;
	uint32_t first = 0;
	int offset;

	*(void **)&last = dlsym(RTLD_DEFAULT, "PyFrame_GetLasti");
	offset = last ? last(object) : -1;
	if (offset >= 0 && (const char *)((uintptr_t)places_read_pointer(frame, layout->code) & ~(uintptr_t)7) == address &&
	    at > address + offset && at - address - offset < 1024)
		first = (uint32_t)(at - address - offset);
	Py_XDECREF(code);
	return first;
}

static struct dwp_places_layout tried; /* `first` is set if it is right */

/* A function of C that two nested functions of Python call. */
static PyObject *places_compare(PyObject *self, PyObject *unused)
{
	PyThreadState *thread = PyGILState_GetThisThreadState();
	PyFrameObject *inner = PyThreadState_GetFrame(thread), *outer = inner ? PyFrame_GetBack(inner) : NULL;
	const char *frame = places_read_pointer((const char *)thread, tried.state);
	uint32_t first = 0;

	if (tried.indirect)
		frame = places_read_pointer(frame, tried.current);
	if (outer)
		first = places_compare_frame(&tried, frame, inner);
	if (first && places_compare_frame(&tried, places_read_pointer(frame, tried.previous), outer) == first)
		tried.first = first;
	Py_XDECREF(outer);
	Py_XDECREF(inner);
	Py_RETURN_NONE;
}

static PyMethodDef comparer = { "compare", places_compare, METH_NOARGS, NULL };

static bool places_find_layout(uint32_t minor)
{
	PyObject *function = PyCFunction_New(&comparer, NULL);
	PyObject *names = function ? dwp_python_names("compare", function) : NULL;
	const uint64_t *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	struct dw_python_layout layout = { .minor = 0 };

	tried.first = 0;
	if (names && runtime && minor >= 11 &&
	    (dw_python_publishes(runtime) ? dw_python_layout_published(runtime, &layout) : dw_python_layout_of(minor, &layout))) {
		tried = (struct dwp_places_layout){ .state = layout.frame, .indirect = layout.loop_frame != DW_PYTHON_NO_FIELD,
			                                .current = layout.loop_frame, .code = layout.code, .previous = layout.previous,
			                                .instruction = layout.instruction };
		dwp_python_run(names, "def inner():\n compare()\n\ndef outer():\n\n inner()\nouter()\n");
	}
	if (names)
		PyDict_Clear(names);
	Py_XDECREF(names);
	Py_XDECREF(function);
	PyErr_Clear();
	return tried.first != 0;
}

static PyObject *places_at_exit(PyObject *self, PyObject *arguments)
{
	works = false;
	Py_RETURN_NONE;
}

static PyMethodDef ender = { "dwp_places_at_exit", places_at_exit, METH_VARARGS, NULL };

void dwp_places_attach(void)
{
	unsigned minor = 0;

	code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
	if (sscanf(Py_GetVersion(), "3.%u", &minor) != 1 || !code_type || !places_find_layout(minor) ||
	    !dwp_python_at_exit(&ender))
		return;
	dwp_places_layout = tried;
	works = true;
}

const char *dwp_places_any_thread(void)
{
	return works ? (const char *)PyGILState_GetThisThreadState() : NULL;
}

const char *dwp_places_thread(void)
{
	if (!works || (pid_t)syscall(SYS_gettid) != getpid())
		return NULL;
	return (const char *)PyGILState_GetThisThreadState();
}
