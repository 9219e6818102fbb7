/*
 * Python functions alone, where the interpreter evaluates their frames (PEP 523): half of
 * what its profile function costs, which must ask for each frame's code.
 *
 * Called by functions.c when Python functions are wanted and C functions are not. The slot
 * is one of the interpreter's, for all threads. torch.compile has a use for it too: where
 * it is taken we leave it alone, and who takes it after us calls what was there before.
 *
 * A frame's layout is Python's own affair: where its code object lies, and whether it is a
 * generator's that goes on, is found with functions that we know; nothing else is read. With the slot taken, calls of Python
 * functions nest on the C stack: beyond `deepest` the interpreter gets it back until the
 * call returns, and what is deeper is not recorded. Python 3.12 allows few such calls.
 */
#include "calls.h"

#include <dlfcn.h>
#include <string.h>

#define FRAME_BYTES 72u /* the part of a frame that is looked at; all versions have more */

typedef PyObject *evaluate_function(PyThreadState *thread, void *frame, int throwing);

static evaluate_function *(*get_evaluate)(PyInterpreterState *interpreter);
static void (*set_evaluate)(PyInterpreterState *interpreter, evaluate_function *function);
static evaluate_function *evaluate_default;

static __thread struct calls *calls __attribute__((tls_model("initial-exec")));
static uint32_t code_at, owner_at; /* in bytes */
static bool makes; /* making a generator evaluates a frame, too (from 3.11 on): no call of it */
static bool watched;
static uint32_t deepest = 3000;

bool dwell_frames_watched(void)
{
	return watched;
}

/* ---- what lies where in a frame --------------------------------------------------------------- */

static struct {
	const void *code;    /* of the function that runs now */
	bool resumes;        /* it is a generator that goes on */
	uint32_t codes;      /* a bit each word of a frame that has held the code each time */
	uint8_t owners[FRAME_BYTES]; /* whether a byte was 1 in resumed frames, 0 in others */
	unsigned evaluated;
} search;

static PyObject *evaluate_search(PyThreadState *thread, void *frame, int throwing)
{
	const uint8_t *bytes = frame;

	for (uint32_t i = 0; i < FRAME_BYTES / 8; i++)
		if (((void **)frame)[i] != search.code)
			search.codes &= ~(1u << i);
	for (uint32_t i = 0; i < FRAME_BYTES; i++)
		search.owners[i] &= bytes[i] == search.resumes;
	search.evaluated++;
	return evaluate_default(thread, frame, throwing);
}

/* Calls f() of the source, and what comes of it until it ends. */
static bool run_searched(PyInterpreterState *interpreter, PyObject *names)
{
	PyObject *function = PyDict_GetItemString(names, "f"), *result, *item; /* function: borrowed */
	PyObject *code = function ? PyObject_GetAttrString(function, "__code__") : NULL;

	if (!code)
		return false;
	search.code = code;
	search.resumes = false;
	search.evaluated = 0;
	set_evaluate(interpreter, evaluate_search);
	result = PyObject_CallObject(function, NULL);
	makes |= result && PyIter_Check(result) && search.evaluated;
	search.resumes = true;
	while (result && PyIter_Check(result) && (item = PyIter_Next(result)))
		Py_DECREF(item);
	set_evaluate(interpreter, evaluate_default);
	Py_XDECREF(result);
	Py_DECREF(code);
	return result && search.evaluated;
}

static bool search_with(PyInterpreterState *interpreter, const char *source)
{
	PyObject *module = Py_CompileString(source, "<dwell>", Py_file_input);
	PyObject *names = PyDict_New();
	PyObject *done = names && module ? PyEval_EvalCode(module, names, names) : NULL;
	bool good = done && run_searched(interpreter, names);

	Py_XDECREF(done);
	Py_XDECREF(names);
	Py_XDECREF(module);
	PyErr_Clear();
	return good;
}

static bool find_places(PyInterpreterState *interpreter)
{
	search.codes = (1u << FRAME_BYTES / 8) - 1;
	memset(search.owners, 1, sizeof search.owners);
	if (!search_with(interpreter, "def f(): return 1") ||
	    !search_with(interpreter, "def f(a=2): return a") ||
	    !search_with(interpreter, "def f(a=3):\n yield a\n yield 4\n") ||
	    !search_with(interpreter, "def f():\n for i in range(5): yield i\n"))
		return false;
	if (!search.codes || search.codes & (search.codes - 1))
		return false;
	code_at = (uint32_t)__builtin_ctz(search.codes) * 8;
	/* The last one: what lies before it changes with the frame's state. */
	for (owner_at = FRAME_BYTES; owner_at > 0 && !search.owners[owner_at - 1];)
		owner_at--;
	return owner_at-- > 0 || !makes;
}

/* ---- evaluating ------------------------------------------------------------------------------ */

static PyObject *evaluate(PyThreadState *thread, void *frame, int throwing);

__attribute__((noinline)) static PyObject *evaluate_deep(PyThreadState *thread, void *frame,
                                                         int throwing)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();
	bool ours = get_evaluate(interpreter) == evaluate;
	PyObject *result;

	if (ours)
		set_evaluate(interpreter, evaluate_default);
	result = evaluate_default(thread, frame, throwing);
	if (ours && get_evaluate(interpreter) == evaluate_default)
		set_evaluate(interpreter, evaluate);
	return result;
}

static PyObject *evaluate(PyThreadState *thread, void *frame, int throwing)
{
	struct known_code known;
	PyObject *result;

	if (!dwell_wants(1u << DWELL_CATEGORY_FUNCTION) || dwell_wants(DWELL_DETAIL_C_FUNCTIONS))
		return evaluate_default(thread, frame, throwing);
	if (DWELL_UNLIKELY(!calls) && !(calls = PyMem_Calloc(1, sizeof *calls)))
		return evaluate_default(thread, frame, throwing);
	known = known_code(*(PyObject **)((char *)frame + code_at));
	if (DWELL_UNLIKELY(known.resumes) && makes && ((const uint8_t *)frame)[owner_at] != 1)
		return evaluate_default(thread, frame, throwing);
	enter_call(calls, known.id);
	result = DWELL_LIKELY(calls->depth < deepest) ? evaluate_default(thread, frame, throwing)
	                                              : evaluate_deep(thread, frame, throwing);
	leave_call(calls);
	return result;
}

bool dwell_frames_watch(void)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();

	if (watched)
		return true;
	*(void **)&get_evaluate = dlsym(RTLD_DEFAULT, "_PyInterpreterState_GetEvalFrameFunc");
	*(void **)&set_evaluate = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
	*(void **)&evaluate_default = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	if (!get_evaluate || !set_evaluate || !evaluate_default ||
	    get_evaluate(interpreter) != evaluate_default || !find_places(interpreter))
		return false;
	if (strncmp(Py_GetVersion(), "3.12.", 5) == 0)
		deepest = 300;
	set_evaluate(interpreter, evaluate);
	return watched = true;
}
