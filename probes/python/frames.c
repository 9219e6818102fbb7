/*
 * Records Python functions alone, by the interpreter's frame evaluation function (PEP 523), for
 * `dwell run --functions=python`.
 *
 * This costs about half of what a profile function costs. The interpreter has one slot for the
 * function, for all threads. Each evaluation is a range: a call of a function, or a resume of a
 * generator or coroutine. A call that only creates a generator is not a range, as with a profile
 * function. The layout of frames differs between versions of Python. So the probe first evaluates
 * functions of its own, and finds the place of the code object in a frame and the byte that says
 * that a generator owns the frame. If it cannot find them, this file records nothing.
 *
 * In these cases the profile function takes over for the rest of the run:
 *   - Deep calls. With an evaluation function each Python call uses some of the machine's stack;
 *     without one it does not, from 3.11 on. When half of the stack is used, or half of the nesting
 *     that the interpreter allows, the probe gives up the slot, so that a program which recurses
 *     deeply runs as it does without dwell.
 *   - Another owner of the slot. Whoever sets the slot after the probe keeps it (torch.compile). If
 *     the new function calls the one that it found there, the probe goes on recording through it.
 *     If it does not, or if the slot was reset, the probe notices at the end of a call. If the slot
 *     was set before the probe attached, the probe leaves it alone.
 *
 * Python 3.11 specialises x[i] for classes with a __getitem__ of their own: it then evaluates the
 * method without the slot. It specialises only functions whose version number is below 2^16. So
 * the probe gives such a function a larger version when it sees it first.
 *
 * Invariant: eval_frame() calls run_frame() exactly once, with its own arguments, and nothing here
 * changes an exception that is set.
 */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef PyObject *evaluator(PyThreadState *thread, void *frame, int raised);

static evaluator *run_frame; /* the interpreter's own */
static evaluator *(*get_slot)(PyInterpreterState *interpreter);
static void (*set_slot)(PyInterpreterState *interpreter, evaluator *function);
static PyInterpreterState *interpreter;
static void (*give_up)(const char *why); /* of dwp_frames_begin() */
static bool recording;
static evaluator *chained;     /* another owner of the slot, which calls eval_frame() */
static uint32_t most_nested;   /* largest depth of calls that this file records */
static uint32_t code_offset;   /* in a frame, in bytes */
static uint32_t owner_offset;  /* in a frame; 0 means creating a generator evaluates no frame */
static uint32_t version_offset; /* in a function; 0 means not needed, only 3.11 needs it */

#define FRAME_CODE(frame) (*(PyObject *const *)(const void *)((const char *)(frame) + code_offset))
#define OWNED_BY_GENERATOR 1

/* ---- subscripts in 3.11 ---------------------------------------------------------------------- */

#define LARGE_VERSION 0x70000000u

/* Keeps 3.11 from specialising subscripts of this function, which is the frame's first word.
 * Versions must be unique, because other specialised code compares all 32 bits. */
static void frames_keep_subscript_seen(const void *frame)
{
	static uint32_t next = LARGE_VERSION;
	char *function = *(char *const *)frame;
	uint32_t *version = (uint32_t *)(void *)(function + version_offset);

	if (version_offset && *version < LARGE_VERSION)
		*version = next++;
}

/* Sets version_offset: the version follows the pointer to the function's vectorcall. */
static void frames_find_version(PyObject *function)
{
	const void *call = dlsym(RTLD_DEFAULT, "_PyFunction_Vectorcall");
	const void *const *words = (const void *const *)function;

	for (uint32_t i = 2; call && i < 16 && !version_offset; i++)
		if (words[i] == call)
			version_offset = (i + 1) * (uint32_t)sizeof(void *);
}

/* ---- the search ---------------------------------------------------------------------------- */

/* The code object is one of the first words of a frame. The owner is one of the bytes after them.
 * Every frame has at least these bytes. */
#define CODE_WORDS 8u
#define FIRST_OWNER 64u
#define OWNER_BYTES 8u

static struct {
	const PyObject *code;  /* code object of the next frame to examine; NULL: none */
	bool owned;            /* a generator owns that frame */
	bool seen;             /* the frame was examined */
	unsigned words, bytes; /* candidates that are left, a bit for each word or byte */
	unsigned subscripts;   /* frames of __getitem__ that came through the slot */
} search;
#define SUBSCRIPTS 100

static PyObject *frames_inspect(PyThreadState *thread, void *frame, int raised)
{
	const PyObject *const *words = frame;
	const unsigned char *bytes = (const unsigned char *)frame + FIRST_OWNER;

	for (unsigned i = 0; search.code && i < CODE_WORDS; i++)
		if (words[i] != search.code)
			search.words &= ~(1u << i);
	for (unsigned i = 0; search.code && i < OWNER_BYTES; i++)
		if (bytes[i] != (search.owned ? OWNED_BY_GENERATOR : 0))
			search.bytes &= ~(1u << i);
	search.seen |= search.code != NULL;
	search.code = NULL;
	return run_frame(thread, frame, raised);
}

static PyObject *frames_count_subscripts(PyThreadState *thread, void *frame, int raised)
{
	if (FRAME_CODE(frame) == search.code) {
		frames_keep_subscript_seen(frame);
		search.subscripts++;
	}
	return run_frame(thread, frame, raised);
}

/* Tests whether every call of a __getitem__ comes through the slot. */
static bool frames_sees_subscripts(PyObject *names)
{
	PyObject *item = PyDict_GetItemString(names, "item"), *loop = PyDict_GetItemString(names, "loop");
	PyObject *code = item ? PyObject_GetAttrString(item, "__code__") : NULL, *result = NULL;

	search.code = code;
	search.subscripts = 0;
	set_slot(interpreter, frames_count_subscripts);
	if (code && loop)
		result = PyObject_CallObject(loop, NULL);
	set_slot(interpreter, run_frame);
	Py_XDECREF(result);
	Py_XDECREF(code);
	return search.subscripts == SUBSCRIPTS;
}

/* Calls `object` (a generator: resumes it) and examines the frame of `function` meanwhile. False:
 * the call failed, or no such frame was evaluated. */
static bool frames_watch(PyObject *names, const char *function, const char *object, bool owned)
{
	PyObject *known = PyDict_GetItemString(names, function);
	PyObject *code = known ? PyObject_GetAttrString(known, "__code__") : NULL;
	PyObject *called = PyDict_GetItemString(names, object), *result = NULL;

	search.code = code;
	search.owned = owned;
	search.seen = false;
	if (code && called)
		result = owned ? PyIter_Next(called) : PyObject_CallObject(called, NULL);
	search.code = NULL;
	Py_XDECREF(result);
	Py_XDECREF(code);
	PyErr_Clear();
	return search.seen && result;
}

/* The offset of the only candidate; 0 if there are none or several. */
static unsigned frames_only(unsigned candidates, unsigned first, unsigned width)
{
	return candidates && !(candidates & (candidates - 1))
	           ? first + (unsigned)__builtin_ctz(candidates) * width : 0;
}

static bool frames_find_places(PyObject *names)
{
	bool seen, created;

	search.words = (1u << CODE_WORDS) - 1;
	search.bytes = (1u << OWNER_BYTES) - 1;
	set_slot(interpreter, frames_inspect);
	seen = frames_watch(names, "f", "f", false) && frames_watch(names, "g", "made_g", true);
	created = frames_watch(names, "h", "h", false);
	seen = seen && frames_watch(names, "g", "made_g", true) && frames_watch(names, "h", "made_h", true) &&
	       frames_watch(names, "f", "f", false);
	if (created)
		seen = frames_watch(names, "g", "g", false) && seen;
	set_slot(interpreter, run_frame);
	code_offset = frames_only(search.words, 0, sizeof(void *));
	owner_offset = created ? frames_only(search.bytes, FIRST_OWNER, 1) : 0;
	return seen && search.words && !(search.words & (search.words - 1)) && (!created || owner_offset);
}

/* Finds the places in a frame with functions of our own. Returns false if they are not certain. The
 * generators are created here, before the slot is set, so that only their resumes are examined. */
static bool find_in_frames(int minor)
{
	static const char *const text = "def f(a=1): return a\n"
	                                "def g(a=1, b=2, c=3):\n yield a\n yield b\n"
	                                "def h():\n yield\n yield\n"
	                                "made_g, made_h = g(), h()\n"
	                                "def item(self, i): return i\n"
	                                "def loop(a=type('', (), {'__getitem__': item})()):\n"
	                                " for i in range(100): a[i]\n";
	PyObject *names = PyDict_New(), *code = Py_CompileString(text, "<dwell>", Py_file_input), *done = NULL;
	bool found;

	if (names)
		PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
	if (names && code)
		done = PyEval_EvalCode(code, names, names);
	found = done && frames_find_places(names);
	if (found && minor == 11)
		frames_find_version(PyDict_GetItemString(names, "item"));
	found = found && frames_sees_subscripts(names);
	if (names)
		PyDict_Clear(names); /* its functions refer to it: without this the garbage collector would
		                      * have to free them */
	Py_XDECREF(done);
	Py_XDECREF(code);
	Py_XDECREF(names);
	PyErr_Clear();
	return found;
}

/* ---- another owner of the slot --------------------------------------------------------------- */

enum { CALL = 0 };

/* A profile function for one call, in a thread that found another owner of the slot. It finds out
 * whether the new owner calls eval_frame(): then the call's code object was entered just before. */
static int frames_on_trial(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
	PyObject *code;

	if (what != CALL)
		return 0;
	code = (PyObject *)PyFrame_GetCode(frame);
	PyEval_SetProfile(NULL, NULL);
	if (dwp_calls && dwp_calls->entered == code)
		chained = get_slot(interpreter);
	else
		give_up("by the profile function: another has the frame evaluation function");
	Py_DECREF(code);
	return 0;
}

/* Called at the end of a call if the slot has changed to `now`. */
__attribute__((noinline)) static void look_at_slot(evaluator *now)
{
	PyObject *type, *value, *trace;

	PyErr_Fetch(&type, &value, &trace);
	if (now == run_frame)
		give_up("by the profile function: another has reset the frame evaluation function");
	else if (!dwp_calls_profiled())
		PyEval_SetProfile(frames_on_trial, NULL);
	PyErr_Restore(type, value, trace);
}

/* ---- the evaluation ---------------------------------------------------------------------------- */

static struct dwp_calls *frames_new_thread(void)
{
	struct dwp_calls *calls = dwp_calls_create();
	pthread_attr_t attributes;
	void *begin;
	size_t bytes;

	if (!calls || pthread_getattr_np(pthread_self(), &attributes) != 0)
		return calls;
	if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
		calls->stack_begin = (uintptr_t)begin;
		calls->stack_scarce = bytes / 2;
	}
	pthread_attr_destroy(&attributes);
	return calls;
}

/* Whether half of the stack or of the allowed nesting is used. */
static inline bool frames_is_deep(const struct dwp_calls *calls)
{
	return (uintptr_t)__builtin_frame_address(0) - calls->stack_begin < calls->stack_scarce ||
	       calls->depth >= most_nested;
}

/* The id of a call. 0: it is not recorded. */
static inline uint32_t frames_id_of_call(PyObject *code, const void *frame)
{
	uint32_t id;

	if (DWELL_UNLIKELY(!dwell_gate))
		return 0;
	id = dwp_code_id(code);
	if (DWELL_UNLIKELY(id & ~DWP_ID_BITS)) {
		if (id & DWP_CODE_SUBSCRIPT)
			frames_keep_subscript_seen(frame); /* also while recording is paused */
		if (id & DWP_CODE_RESUMED && owner_offset &&
		    ((const char *)frame)[owner_offset] != OWNED_BY_GENERATOR)
			return 0;
		id &= DWP_ID_BITS;
	}
	return DWELL_LIKELY(dwell_wants(1u << DWELL_CATEGORY_FUNCTION)) ? id : 0;
}

static PyObject *eval_frame(PyThreadState *thread, void *frame, int raised)
{
	PyObject *code = FRAME_CODE(frame), *result;
	struct dwp_calls *calls = dwp_calls;
	uint32_t id, at;
	evaluator *now;

	if (DWELL_UNLIKELY(!calls))
		calls = frames_new_thread();
	if (DWELL_UNLIKELY(!recording || !calls))
		return run_frame(thread, frame, raised);
	if (DWELL_UNLIKELY(frames_is_deep(calls))) {
		give_up("by the profile function: calls were nested too deep for frames");
		return run_frame(thread, frame, raised);
	}
	id = frames_id_of_call(code, frame);
	at = calls->depth;
	dwp_calls_enter(calls, id, DWP_CALL_BY_FRAME);
	calls->entered = code;
	result = run_frame(thread, frame, raised);
	if (DWELL_UNLIKELY(calls->depth != at + 1)) {
		/* A profile function was removed during the call, so its open calls were not left. */
		calls->depth = at + 1;
		calls->mixed = at + 1;
	}
	dwp_calls_leave(calls);
	if (DWELL_UNLIKELY((now = get_slot(interpreter)) != eval_frame) && now != chained && recording)
		look_at_slot(now);
	return result;
}

/* ---- begin and end ------------------------------------------------------------------------------ */

/* The minor version of Python 3.9 to 3.13; 0 for any other Python. */
static int frames_minor_version(void)
{
	int major = 0, minor = 0;

	if (sscanf(Py_GetVersion(), "%d.%d", &major, &minor) != 2 || major != 3 || minor > 13 ||
	    strstr(Py_GetVersion(), "free-threading"))
		return 0;
	return minor;
}

const char *dwp_frames_begin(void (*otherwise)(const char *why))
{
	int minor = frames_minor_version();

	*(void **)&run_frame = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	*(void **)&get_slot = dlsym(RTLD_DEFAULT, "_PyInterpreterState_GetEvalFrameFunc");
	*(void **)&set_slot = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
	interpreter = PyInterpreterState_Get();
	if (!minor || !run_frame || !get_slot || !set_slot)
		return "by the profile function: frames of this Python are not known";
	if (get_slot(interpreter) != run_frame)
		return "by the profile function: another has the frame evaluation function";
	if (!find_in_frames(minor))
		return "by the profile function: frames of this Python are not known";
	/* From 3.12 on the interpreter limits the depth of nested evaluations: to 1500 in the first
	 * 3.12, to some thousands in 3.13. */
	most_nested = minor == 12 ? 500 : minor > 12 ? 1500 : DWP_MOST_CALLS;
	give_up = otherwise;
	recording = true;
	set_slot(interpreter, eval_frame);
	return NULL;
}

void dwp_frames_end(void)
{
	recording = false;
	if (get_slot(interpreter) == eval_frame)
		set_slot(interpreter, run_frame);
}
