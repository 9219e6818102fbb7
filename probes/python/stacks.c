/*
 * The Python stack of the calling thread, for operators that are recorded with stacks.
 *
 * The PyTorch probe calls this at the beginning of an outermost operator, mostly without the
 * interpreter's lock. Frames may be read only with the lock, so it is taken here. A thread that
 * Python does not know (of autograd, of a pool) has no Python stack and takes no lock.
 *
 * A walk creates one Python object for each frame. Names would cost far more. Therefore a stack
 * that occurred before is found by a hash of its code objects and of the places in them. A code
 * object is identified by a number in its extra field and not by its address, because a later code
 * object may have the same address.
 *
 * Invariant: the tables are changed only with the interpreter's lock.
 */
#include "python.h"

#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define DEEPEST 128u
#define STACKS 8192u /* entries; a stack that another one replaced is named again when it recurs */

/* Every CPython since 3.9 exports these, but they are not part of its limited API. */
PyAPI_FUNC(PyThreadState *) PyGILState_GetThisThreadState(void);
PyAPI_FUNC(PyFrameObject *) PyThreadState_GetFrame(PyThreadState *thread);
PyAPI_FUNC(PyFrameObject *) PyFrame_GetBack(PyFrameObject *frame);
PyAPI_FUNC(int) PyFrame_GetLineNumber(PyFrameObject *frame);

static struct {
	struct dwp_code_field field;        /* the number of a code object */
	int (*last)(PyFrameObject *frame);  /* the place in the code; NULL before 3.11 */
	uintptr_t codes;     /* the last number of a code object */
} python = { .field.index = -1 };

static struct {
	uint64_t hash;
	uint32_t id;
} stacks[STACKS];

/* ---- the end of the interpreter --------------------------------------------------- */

/*
 * When the interpreter ends, it ends threads that wait for its lock. It unwinds their stacks, and
 * PyTorch's frames on them then abort the program. Therefore no thread may wait for the lock when
 * that begins: from exit on no thread starts to wait, and threads that wait already get the lock
 * first. Both variables are sequentially consistent: a thread increments `waiting` and then reads
 * `ending`; stacks_at_exit() sets `ending` and then reads `waiting`. So at least one of them sees the
 * other.
 */
static int waiting;
static bool ending;
/* After a fork, the child may have inherited a count that no thread of it will decrement. */
#define LONGEST_WAIT_MS 500

static PyObject *stacks_at_exit(PyObject *self, PyObject *arguments)
{
	const struct timespec millisecond = { 0, 1000000 };

	__atomic_store_n(&ending, true, __ATOMIC_SEQ_CST);
	Py_BEGIN_ALLOW_THREADS
	for (int i = 0; i < LONGEST_WAIT_MS && __atomic_load_n(&waiting, __ATOMIC_SEQ_CST); i++)
		nanosleep(&millisecond, NULL);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

static PyMethodDef ender = { "dwp_at_exit", stacks_at_exit, METH_VARARGS, NULL };

void dwp_stacks_attach(void)
{
	*(void **)&python.last = dlsym(RTLD_DEFAULT, "PyFrame_GetLasti");
	/* Without stacks_at_exit() the program might abort at its end, so then no stacks are recorded. */
	ending = !dwp_python_at_exit(&ender);
	dwp_python_code_field(&python.field, NULL);
}

static uint64_t stacks_code_number(PyObject *code)
{
	void *number = NULL;

	python.field.get(code, python.field.index, &number);
	if (!number) {
		number = (void *)++python.codes;
		python.field.set(code, python.field.index, number);
	}
	return (uintptr_t)number;
}

static uint32_t stacks_intern_frame(PyFrameObject *frame)
{
	PyObject *code = (PyObject *)PyFrame_GetCode(frame);
	char name[256], file[1024];

	dwp_python_text(code, "co_qualname", name, sizeof name);
	if (!*name)
		dwp_python_text(code, "co_name", name, sizeof name);
	dwp_python_text(code, "co_filename", file, sizeof file);
	Py_DECREF(code);
	return dwell_intern_frame(name, file, (uint32_t)PyFrame_GetLineNumber(frame));
}

static uint32_t name_stack(const uint32_t *inner, uint32_t inner_count, PyFrameObject *const *frames,
                           uint32_t count)
{
	uint32_t ids[DEEPEST];

	for (uint32_t i = 0; i < count; i++)
		if (!(ids[inner_count + i] = stacks_intern_frame(frames[i])))
			return 0;
	for (uint32_t i = 0; i < inner_count; i++)
		ids[i] = inner[i];
	return dwell_intern_stack(ids, inner_count + count);
}

static uint64_t stacks_mix(uint64_t hash, uint64_t next)
{
	hash = (hash ^ next) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Needs the lock. The references to frames are released here. */
static uint32_t stacks_walk(PyThreadState *thread, const uint32_t *inner, uint32_t inner_count)
{
	PyFrameObject *frames[DEEPEST], *frame = PyThreadState_GetFrame(thread);
	uint32_t count = 0, at, id;
	uint64_t hash = 1;

	for (uint32_t i = 0; i < inner_count; i++)
		hash = stacks_mix(hash, inner[i]);
	while (frame && inner_count + count < DEEPEST) {
		PyObject *code = (PyObject *)PyFrame_GetCode(frame);
		int place = python.last ? python.last(frame) : PyFrame_GetLineNumber(frame);

		hash = stacks_mix(hash, stacks_code_number(code) << 20 ^ (uint64_t)(unsigned)place);
		Py_DECREF(code);
		frames[count++] = frame;
		frame = PyFrame_GetBack(frame);
	}
	Py_XDECREF(frame);
	at = (uint32_t)hash % STACKS;
	id = stacks[at].hash == hash ? stacks[at].id : 0;
	if (!id && inner_count + count && (id = name_stack(inner, inner_count, frames, count))) {
		stacks[at].hash = hash;
		stacks[at].id = id;
	}
	while (count)
		Py_DECREF(frames[--count]);
	return id;
}

uint32_t dwp_python_stack(const uint32_t *inner, uint32_t count)
{
	PyThreadState *thread = PyGILState_GetThisThreadState();
	PyObject *type = NULL, *value = NULL, *traceback = NULL;
	uint32_t id = 0;

	if (!thread || python.field.index < 0)
		return count ? dwell_intern_stack(inner, count) : 0;
	__atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST)) {
		PyGILState_STATE state = PyGILState_Ensure();

		PyErr_Fetch(&type, &value, &traceback);
		id = stacks_walk(thread, inner, count);
		PyErr_Restore(type, value, traceback);
		PyGILState_Release(state);
	}
	__atomic_fetch_sub(&waiting, 1, __ATOMIC_SEQ_CST);
	return id;
}
