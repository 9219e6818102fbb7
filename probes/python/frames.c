/*
 * Python functions alone, by the interpreter's frame evaluation function (PEP 523).
 *
 * `dwell run --functions=python`: about half of what a profile function costs. The slot is
 * the interpreter's and serves all its threads. Each call of it is a range: a call of a
 * function, or a resume of a generator or coroutine; the call that only makes one is none,
 * as for a profile function. Where the code object stands in a frame, and where it says that
 * a generator owns it, is found with functions that we know, or nothing is recorded here.
 *
 * What a program may find out, and when we go on with the profile function for good:
 *   - With an evaluation function each Python call takes some of the machine's stack, which
 *     from 3.11 on it would not: when half of it is used, or half of the nesting that the
 *     interpreter allows, we give the slot up and deeper calls are as without us.
 *   - Who sets the slot after us has it (torch.compile). Those that call what they found
 *     there go on being recorded by it; when they do not, or have taken us out, we see that
 *     at the end of a call. Who set it before us keeps it.
 *
 *
 * 3.11 evaluates x[i] of a class with its own __getitem__ within the caller's frame once it has
 * specialised that place, slot or not. It specialises for functions whose version has 16 bits
 * only, so such a function is given a larger one when it is first seen.
 *
 * Invariant: run_frame() is called once for each call of eval_frame(), with its arguments,
 * and nothing here sets, clears or reads an exception.
 */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef PyObject *evaluator(PyThreadState *thread, void *frame, int raised);

static evaluator *run_frame; /* the interpreter's own */
static evaluator *(*get_slot)(PyInterpreterState *interpreter);
static void (*set_slot)(PyInterpreterState *interpreter, evaluator *function);
static PyInterpreterState *interpreter;
static bool recording;
static evaluator *chained;     /* has the slot and calls us */
static uint32_t most_nested;   /* calls, before the interpreter would refuse */
static uint32_t code_offset, owner_offset; /* in bytes; the second 0: creation is no call */
static uint32_t version_offset;            /* of a function, which the frame begins with; 0: 3.11 only */

#define FRAME_CODE(frame) (*(PyObject *const *)(const void *)((const char *)(frame) + code_offset))
#define OWNED_BY_GENERATOR 1

/* ---- subscripts in 3.11 ---------------------------------------------------------------------- */

#define LARGE_VERSION 0x70000000u

/* Versions are unique: places specialised otherwise compare all of it. */
static void keep_subscript_seen(const void *frame)
{
	static uint32_t next = LARGE_VERSION;
	char *function = *(char *const *)frame;
	uint32_t *version = (uint32_t *)(void *)(function + version_offset);

	if (version_offset && *version < LARGE_VERSION)
		*version = next++;
}

/* Behind the pointer that calls it. */
static void find_version(PyObject *function)
{
	const void *call = dlsym(RTLD_DEFAULT, "_PyFunction_Vectorcall");
	const void *const *words = (const void *const *)function;

	for (uint32_t i = 2; call && i < 16 && !version_offset; i++)
		if (words[i] == call)
			version_offset = (i + 1) * (uint32_t)sizeof(void *);
}

/* ---- the search ---------------------------------------------------------------------------- */

#define CODE_WORDS 8u   /* in the first words, */
#define FIRST_OWNER 64u /* and behind them: every frame is as long as that */
#define OWNER_BYTES 8u

static struct {
	const PyObject *code; /* the next frame's; NULL: it is not looked at */
	bool owned;           /* by a generator */
	bool seen;
	unsigned words, bytes; /* that may still be it, a bit each */
	unsigned subscripts;
} search;
#define SUBSCRIPTS 100

static PyObject *look(PyThreadState *thread, void *frame, int raised)
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

static PyObject *count_subscripts(PyThreadState *thread, void *frame, int raised)
{
	if (FRAME_CODE(frame) == search.code) {
		keep_subscript_seen(frame);
		search.subscripts++;
	}
	return run_frame(thread, frame, raised);
}

/* Whether every call of a __getitem__ comes through the slot. */
static bool sees_subscripts(PyObject *names)
{
	PyObject *item = PyDict_GetItemString(names, "item"), *loop = PyDict_GetItemString(names, "loop");
	PyObject *code = item ? PyObject_GetAttrString(item, "__code__") : NULL, *result = NULL;

	search.code = code;
	search.subscripts = 0;
	set_slot(interpreter, count_subscripts);
	if (code && loop)
		result = PyObject_CallObject(loop, NULL);
	set_slot(interpreter, run_frame);
	Py_XDECREF(result);
	Py_XDECREF(code);
	return search.subscripts == SUBSCRIPTS;
}

/* The frame of `function`, when `object` is called (a generator: resumed). */
static bool watch(PyObject *names, const char *function, const char *object, bool owned)
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

static unsigned only(unsigned candidates, unsigned first, unsigned width)
{
	return candidates && !(candidates & (candidates - 1))
	           ? first + (unsigned)__builtin_ctz(candidates) * width : 0;
}

static bool find_places(PyObject *names)
{
	bool seen, created;

	search.words = (1u << CODE_WORDS) - 1;
	search.bytes = (1u << OWNER_BYTES) - 1;
	set_slot(interpreter, look);
	seen = watch(names, "f", "f", false) && watch(names, "g", "made_g", true);
	created = watch(names, "h", "h", false);
	seen = seen && watch(names, "g", "made_g", true) && watch(names, "h", "made_h", true) &&
	       watch(names, "f", "f", false);
	if (created)
		seen = watch(names, "g", "g", false) && seen;
	set_slot(interpreter, run_frame);
	code_offset = only(search.words, 0, sizeof(void *));
	owner_offset = created ? only(search.bytes, FIRST_OWNER, 1) : 0;
	return seen && search.words && !(search.words & (search.words - 1)) && (!created || owner_offset);
}

/* Generators made before we have the slot are made in their caller's frame evaluation. */
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
	found = done && find_places(names);
	if (found && minor == 11)
		find_version(PyDict_GetItemString(names, "item"));
	found = found && sees_subscripts(names);
	if (names)
		PyDict_Clear(names); /* now, unseen: its functions hold it in a circle */
	Py_XDECREF(done);
	Py_XDECREF(code);
	Py_XDECREF(names);
	PyErr_Clear();
	return found;
}

/* ---- the slot after us ----------------------------------------------------------------------- */

enum { CALL = 0 };

/* Set in a thread that saw another owner, until its next call: has that come through us? */
static int on_trial(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
	PyObject *code;

	if (what != CALL)
		return 0;
	code = (PyObject *)PyFrame_GetCode(frame);
	PyEval_SetProfile(NULL, NULL);
	if (dwp_calls && dwp_calls->entered == code)
		chained = get_slot(interpreter);
	else
		dwp_functions_by_profile("by the profile function: another has the frame evaluation function");
	Py_DECREF(code);
	return 0;
}

__attribute__((noinline)) static void look_at_slot(evaluator *now)
{
	PyObject *type, *value, *trace;

	PyErr_Fetch(&type, &value, &trace);
	if (now == run_frame)
		dwp_functions_by_profile("by the profile function: another has reset the frame evaluation function");
	else if (!dwp_functions_profiled())
		PyEval_SetProfile(on_trial, NULL);
	PyErr_Restore(type, value, trace);
}

/* ---- the evaluation ---------------------------------------------------------------------------- */

static struct dwp_calls *new_thread(void)
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

/* Of a call's nesting: deeper calls are left to the interpreter. */
static inline bool is_deep(const struct dwp_calls *calls)
{
	return (uintptr_t)__builtin_frame_address(0) - calls->stack_begin < calls->stack_scarce ||
	       calls->depth >= most_nested;
}

/* 0: not recorded. */
static inline uint32_t id_of_call(PyObject *code, const void *frame)
{
	uint32_t id;

	if (DWELL_UNLIKELY(!dwell_gate))
		return 0;
	id = dwp_code_id(code);
	if (DWELL_UNLIKELY(id & ~DWP_ID_BITS)) {
		if (id & DWP_CODE_SUBSCRIPT)
			keep_subscript_seen(frame); /* while the gate is closed too */
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
		calls = new_thread();
	if (DWELL_UNLIKELY(!recording || !calls))
		return run_frame(thread, frame, raised);
	if (DWELL_UNLIKELY(is_deep(calls))) {
		dwp_functions_by_profile("by the profile function: calls were nested too deep for frames");
		return run_frame(thread, frame, raised);
	}
	id = id_of_call(code, frame);
	at = calls->depth;
	dwp_calls_enter(calls, id, DWP_CALL_BY_FRAME);
	calls->entered = code;
	result = run_frame(thread, frame, raised);
	if (DWELL_UNLIKELY(calls->depth != at + 1)) {
		/* a profile function was taken away below: its calls have not ended */
		calls->depth = at + 1;
		calls->mixed = at + 1;
	}
	dwp_calls_leave(calls);
	if (DWELL_UNLIKELY((now = get_slot(interpreter)) != eval_frame) && now != chained && recording)
		look_at_slot(now);
	return result;
}

/* ---- begin and end ------------------------------------------------------------------------------ */

/* 3.9 to 3.13; the minor version, or 0. */
static int minor_version(void)
{
	int major = 0, minor = 0;

	if (sscanf(Py_GetVersion(), "%d.%d", &major, &minor) != 2 || major != 3 || minor > 13 ||
	    strstr(Py_GetVersion(), "free-threading"))
		return 0;
	return minor;
}

const char *dwp_frames_begin(void)
{
	int minor = minor_version();

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
	/* From 3.12 on the interpreter counts evaluations within one another, and allows 1500 in
	 * the first 3.12, some thousands in 3.13. */
	most_nested = minor == 12 ? 500 : minor > 12 ? 1500 : DWP_MOST_CALLS;
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
