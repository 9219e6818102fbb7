/* Follows the loop whose iterations are steps. See loops.h. */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#include "../python/code_loops.h"

#define MOST_POINTS 128u    /* of nested calls */
#define MOST_LEVELS 8u      /* of nested loops */
#define MOST_UNDECIDED 256u /* iterations of an inner loop; a longer one is no part of a step */
#define MOST_EXAMINED 1024u /* such iterations in a process: where loops alternate, the innermost one is chosen from then on */
#define MOST_WEIGHTS 16u
#define MOST_MODULES 32u    /* that an iteration calls one after the other */
#define MOST_PREFIX 6u /* bytes from the begin of a loop in which a `for` asks for the next element */

/* An instruction that a function is at, as an offset. */
struct point {
	const char *code;
	uint32_t at;
};

/* The calls that are open in the thread, the script first. */
struct chain {
	uint32_t count;
	struct point points[MOST_POINTS];
};

struct level {
	uint32_t depth; /* of the function's call in the chain */
	const char *code;
	const struct dwp_code_loop *loop;
};

/* Of the main thread. */
static struct {
	uint32_t count;  /* nested loops, from the outermost; 0: none is known */
	uint32_t chosen; /* whose iterations are steps */
	bool open;       /* the thread is in the chosen one */
	bool decided;    /* which one is chosen does not change any more */
	bool gradients;  /* it was chosen because it computes gradients */
	bool library;    /* a library has the loop, so none of the program's is followed */
	struct level levels[MOST_LEVELS];
	struct chain last;
} nest;

/* What the first iterations of an inner loop call. */
static struct {
	uint32_t iterations;
	bool fresh;         /* nothing was called yet in this iteration */
	bool same_input;    /* of all so far */
	bool other_weights; /* each iteration had others than the one before */
	const PyObject *module;
	uint64_t weights;
	PyObject *input; /* a weak reference */
} calls;

/* ---- where the thread is ------------------------------------------------------------------- */

/* Where a thread called a model last, and which ones the iteration has called. */
struct dwp_loops_last {
	struct chain chain;
	uint32_t count;
	const PyObject *modules[MOST_MODULES]; /* only compared */
};

static bool loops_walk(const char *thread, struct chain *chain)
{
	const struct dwp_places_layout *layout = &dwp_places_layout;
	const char *frame = DWP_PLACES_POINTER(thread, layout->state);
	uint32_t count = 0;

	if (layout->indirect)
		frame = DWP_PLACES_POINTER(frame, layout->current);
	for (; frame; frame = DWP_PLACES_POINTER(frame, layout->previous)) {
		const char *code = DWP_PLACES_CODE(frame);
		const char *at = DWP_PLACES_POINTER(frame, layout->instruction);

		if (!code)
			continue;
		if (count == MOST_POINTS)
			return false;
		chain->points[MOST_POINTS - ++count] = (struct point){ code, (uint32_t)(at - code) - layout->first };
	}
	memmove(chain->points, chain->points + MOST_POINTS - count, count * sizeof chain->points[0]);
	chain->count = count;
	return count > 0;
}

/* Copies what there is: a chain has room for many more calls than are usually open. */
static void loops_keep(struct chain *kept, const struct chain *chain)
{
	kept->count = chain->count;
	memcpy(kept->points, chain->points, chain->count * sizeof chain->points[0]);
}

static bool loops_contains(const struct dwp_code_loop *loop, uint32_t at)
{
	return loop->from <= at && at < loop->to;
}

/* The outermost loop within `around` (NULL: the function) that contains an instruction; NULL: none. */
static const struct dwp_code_loop *loops_within(const struct dwp_code_loops *loops, const struct dwp_code_loop *around,
                                                uint32_t at)
{
	const struct dwp_code_loop *loop = around ? around + 1 : loops->loops;

	for (; loop < loops->loops + loops->count; loop++)
		if (loops_contains(loop, at))
			return loop;
	return NULL;
}

enum relation { SAME, LATER, AGAIN };

/* Whether a function that was called anew shows that the loop around its call began a new iteration. A
 * library may call a function of the program several times (autograd.Function), and then an operator in it
 * shows nothing. */
static bool loops_is_sure(const struct chain *now, enum loops_kind kind, const struct level *level, uint32_t depth)
{
	for (uint32_t d = level->depth + 1; kind == LOOPS_OPERATOR && d <= depth; d++)
		if (dwp_places_look((uintptr_t)now->points[d].code) != DWP_PLACES_OWN)
			return false;
	return true;
}

/* What lies between two moments. AGAIN: `level` began a new iteration; its `loop` is NULL if that is
 * none that is known. */
static enum relation loops_compare(const struct chain *last, const struct chain *now, enum loops_kind kind,
                                   struct level *level)
{
	*level = (struct level){ 0 };
	for (uint32_t d = 0; d < last->count && d < now->count; d++) {
		const struct point *a = &last->points[d], *b = &now->points[d];
		const struct dwp_code_loops *loops;
		const struct dwp_code_loop *around = NULL, *in_a, *in_b;

		if (a->code != b->code) /* another function is called where one was called before */
			return loops_is_sure(now, kind, level, d) ? AGAIN : SAME;
		loops = kind == LOOPS_OPERATOR ? dwp_code_loops_known(b->code) : dwp_code_loops(b->code);
		if (!loops)
			return kind == LOOPS_OPERATOR ? SAME : AGAIN;
		while ((in_a = loops_within(loops, around, a->at)) == (in_b = loops_within(loops, around, b->at)) && in_a) {
			around = in_a;
			*level = (struct level){ d, b->code, around };
		}
		if ((in_b ? in_b->from : b->at) < (in_a ? in_a->from : a->at))
			return loops_is_sure(now, kind, level, d) ? AGAIN : SAME;
		if (in_a != in_b || b->at > a->at)
			return LATER;
	}
	if (now->count > last->count)
		return LATER;
	return kind == LOOPS_OPERATOR ? SAME : AGAIN;
}

/* Whether the outermost function that has moved got to `now` without a jump back. */
static bool loops_goes_on(const struct chain *last, const struct chain *now)
{
	for (uint32_t d = 0; d < last->count && d < now->count; d++) {
		const struct point *a = &last->points[d], *b = &now->points[d];
		const struct dwp_code_loops *loops;
		const struct dwp_code_loop *around = NULL, *in_a, *in_b;

		if (a->code != b->code)
			return false;
		if (a->at == b->at)
			continue;
		loops = dwp_code_loops(b->code);
		if (!loops || a->at > b->at)
			return false;
		while ((in_a = loops_within(loops, around, a->at)) == (in_b = loops_within(loops, around, b->at)) && in_a)
			around = in_a;
		return in_a == in_b && dwp_code_reaches(b->code, a->at, b->at);
	}
	return false;
}

/* What the thread's last call returned, by a weak reference, and of which module, in the interpreter's dictionary of the thread, which
 * is freed with it. */
static PyObject *result_key;

bool dwp_loops_is_result(PyObject *module, PyObject *input)
{
	PyObject *of_thread = result_key && input ? PyThreadState_GetDict() : NULL;
	PyObject *last = of_thread ? PyDict_GetItem(of_thread, result_key) : NULL;

	return last && PyWeakref_GetObject(PyTuple_GetItem(last, 0)) == input && PyLong_AsVoidPtr(PyTuple_GetItem(last, 1)) != module;
}

void dwp_loops_returned(PyObject *module, PyObject *result)
{
	PyObject *of_thread = PyThreadState_GetDict(), *reference = PyWeakref_NewRef(result, NULL);
	PyObject *last = reference ? Py_BuildValue("(NN)", reference, PyLong_FromVoidPtr(module)) : NULL;

	if (!result_key)
		result_key = PyUnicode_InternFromString("dwell.result");
	if (of_thread && result_key && last)
		PyDict_SetItem(of_thread, result_key, last);
	Py_XDECREF(last);
	PyErr_Clear(); /* a tuple has no weak references */
}

/* A module that the iteration has called begins another one, so that the same call in many lines is as in a loop. */
bool dwp_loops_goes_on(struct dwp_loops_last **kept, PyObject *module, PyObject *input, bool may)
{
	static struct chain now;
	struct dwp_loops_last *last = *kept;
	const char *thread = dwp_places_any_thread();

	if (!last)
		last = *kept = calloc(1, sizeof *last);
	if (!last || !thread || !loops_walk(thread, &now))
		return false;
	may = may && last->count < MOST_MODULES && (dwp_loops_is_result(module, input) || loops_goes_on(&last->chain, &now));
	for (uint32_t i = 0; i < last->count; i++)
		may &= last->modules[i] != module;
	loops_keep(&last->chain, &now);
	if (!may)
		last->count = 0;
	last->modules[last->count++] = module;
	return may;
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* The loops of the program around this moment, outside of function transforms. */
static uint32_t loops_around(const struct chain *now, struct level *levels)
{
	uint32_t count = 0;

	for (uint32_t d = 0; d < now->count; d++) {
		const struct point *point = &now->points[d];
		const struct dwp_code_loops *loops = dwp_code_loops(point->code);

		if (loops && loops->transforms)
			break;
		if (!loops || !loops->count || !dwp_places_is_own_code(point->code))
			continue;
		for (const struct dwp_code_loop *loop = loops_within(loops, NULL, point->at); loop;
		     loop = loops_within(loops, loop, point->at)) {
			if (count == MOST_LEVELS)
				memmove(levels, levels + 1, --count * sizeof *levels);
			levels[count++] = (struct level){ d, point->code, loop };
		}
	}
	return count;
}

static uint32_t loops_without_expressions(const struct level *levels, uint32_t count)
{
	uint32_t kept = count;

	while (kept && levels[kept - 1].loop->expression)
		kept--;
	return kept ? kept : count;
}

static uint32_t examined;

static void loops_forget_calls(void)
{
	Py_CLEAR(calls.input);
	calls.iterations = 0;
	calls.fresh = true;
	calls.same_input = calls.other_weights = true;
	calls.module = NULL;
	calls.weights = 0;
}

static void loops_choose(const struct chain *now, const struct level *levels, uint32_t count, enum loops_kind kind)
{
	nest.count = kind == LOOPS_GRADIENT ? loops_without_expressions(levels, count) : count;
	memcpy(nest.levels, levels, nest.count * sizeof *levels);
	nest.chosen = nest.count - 1;
	nest.open = true;
	nest.gradients = kind == LOOPS_GRADIENT;
	nest.decided = nest.count == 1 || examined >= MOST_EXAMINED;
	loops_keep(&nest.last, now);
	loops_forget_calls();
}

/* How many of the known loops the thread is in. */
static uint32_t loops_inside(const struct chain *now)
{
	uint32_t k = 0;

	for (; k < nest.count; k++) {
		const struct level *level = &nest.levels[k];

		if (level->depth >= now->count || now->points[level->depth].code != level->code ||
		    !loops_contains(level->loop, now->points[level->depth].at))
			break;
	}
	return k;
}

/* ---- candidates and ensembles -------------------------------------------------------------- */

/* A number that changes if a parameter is replaced or changed in place: its address, PyTorch's count of
 * changes, and on the CPU its first bytes, because a change through .data is not counted. */
static uint64_t loops_add_weights(PyObject *parameter, uint64_t sum)
{
	PyObject *address = PyObject_CallMethod(parameter, "data_ptr", NULL), *version, *device;
	uint64_t words[3] = { 0 };

	PyErr_Clear(); /* a parameter without memory has no address */
	version = PyObject_GetAttrString(parameter, "_version");
	PyErr_Clear();
	device = PyObject_GetAttrString(parameter, "is_cpu");
	PyErr_Clear();
	words[0] = address ? PyLong_AsUnsignedLongLong(address) : 0;
	words[1] = version ? PyLong_AsUnsignedLongLong(version) : 0;
	if (!PyErr_Occurred() && device == Py_True && words[0])
		memcpy(&words[2], (const void *)(uintptr_t)words[0], 4); /* PyTorch aligns its memory to more */
	Py_XDECREF(device);
	Py_XDECREF(version);
	Py_XDECREF(address);
	PyErr_Clear();
	for (unsigned i = 0; i < 3; i++)
		sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
	return sum ^ sum >> 29;
}

static uint64_t loops_weights(PyObject *module)
{
	PyObject *iterator = PyObject_CallMethod(module, "parameters", NULL), *parameter;
	uint64_t sum = 1;

	for (unsigned i = 0; iterator && i < MOST_WEIGHTS && (parameter = PyIter_Next(iterator)); i++) {
		sum = loops_add_weights(parameter, sum);
		Py_DECREF(parameter);
	}
	Py_XDECREF(iterator);
	PyErr_Clear();
	return sum;
}

static bool loops_is_same_input(PyObject *input)
{
	return input && calls.input && PyWeakref_GetObject(calls.input) == input;
}

/* The first call of a model in an iteration. */
static void loops_note_call(PyObject *module, PyObject *input)
{
	uint64_t weights;

	if (nest.decided || !calls.fresh || !module)
		return;
	calls.fresh = false;
	weights = loops_weights(module);
	if (calls.iterations++) {
		calls.other_weights &= module != calls.module || weights != calls.weights;
		calls.same_input &= loops_is_same_input(input);
	}
	calls.module = module;
	calls.weights = weights;
	Py_CLEAR(calls.input);
	calls.input = input ? PyWeakref_NewRef(input, NULL) : NULL;
	PyErr_Clear();
	examined++;
	nest.decided = calls.iterations >= MOST_UNDECIDED;
}

/* The chosen loop has ended for the first time. Whether its iterations were parts of a step. */
static bool loops_are_parts(void)
{
	return !nest.gradients && calls.iterations > 1 && calls.other_weights &&
	       (calls.same_input || nest.levels[nest.chosen].loop->expression);
}

/* ---- following ----------------------------------------------------------------------------- */

static void loops_widen(uint32_t level, struct loops_seen *seen)
{
	seen->widens = true;
	nest.chosen = level;
	nest.decided |= level == 0;
}

/* The thread has left the chosen loop, or begun it anew. */
static void loops_end_run(struct loops_seen *seen)
{
	if (nest.decided || !nest.chosen)
		return;
	if (loops_are_parts()) {
		loops_widen(nest.chosen - 1, seen);
		nest.decided = true;
	}
}

/* The thread is in `inside` of the loops. */
static void loops_leave(uint32_t inside, struct loops_seen *seen)
{
	if (inside > nest.chosen || !nest.open)
		return;
	if (inside == nest.chosen)
		loops_end_run(seen);
	if (inside > nest.chosen)
		return;
	nest.open = false;
	seen->left = true;
}

static void loops_iterate(const struct level *again, struct loops_seen *seen)
{
	for (uint32_t k = 0; k <= nest.chosen; k++) {
		const struct level *level = &nest.levels[k];

		if (level->depth != again->depth || level->loop != again->loop)
			continue;
		if (k < nest.chosen) { /* a loop around the chosen one */
			loops_end_run(seen);
			nest.decided = true;
			/* Where operators are not seen, any may lie between the run that has ended and this one. */
			seen->left |= nest.open && k < nest.chosen && !dwell_wants(1u << DWELL_CATEGORY_OPERATOR);
		}
		if (nest.open && k <= nest.chosen)
			seen->iterates = true;
		calls.fresh = true;
		return;
	}
}

static void loops_follow(const struct chain *now, enum loops_kind kind, struct loops_seen *seen)
{
	uint32_t inside = loops_inside(now);
	struct level again;
	enum relation relation;

	relation = loops_compare(&nest.last, now, kind, &again);
	loops_leave(inside, seen);
	if (!nest.open && inside > nest.chosen) {
		nest.open = seen->iterates = true; /* the loop begins anew */
		calls.fresh = true;
	}
	if (relation == AGAIN && again.loop)
		loops_iterate(&again, seen);
	if (relation != SAME)
		loops_keep(&nest.last, now);
	if (!inside)
		nest.count = 0;
	seen->in = nest.open && nest.count;
}

/* A model is called, or gradients are computed, outside the chosen loop or in the first iteration of a
 * loop that was not chosen for its gradients. */
static void loops_find(const struct chain *now, enum loops_kind kind, struct loops_seen *seen)
{
	struct level levels[MOST_LEVELS];
	uint32_t count = loops_around(now, levels), inside = nest.count ? loops_inside(now) : 0;
	bool counts = kind == LOOPS_GRADIENT || !nest.gradients;

	if (kind == LOOPS_GRADIENT)
		count = loops_without_expressions(levels, count);
	if (count && count <= inside && count <= nest.chosen && counts && !nest.decided) {
		loops_widen(count - 1, seen);
		seen->left = false;
		seen->in = nest.open = true;
		loops_keep(&nest.last, now);
		return;
	}
	if (count <= inside)
		return;
	seen->left |= nest.open;
	loops_choose(now, levels, count, kind);
	seen->in = seen->enters = true;
}

/* Whether a library's loop asks for a batch: then an iteration of the program's own loop is an epoch. A
 * `for` of the program over what a library wraps around a loader is the program's. */
static bool loops_is_library(const struct chain *now)
{
	uint32_t d = now->count;
	const struct dwp_code_loops *loops;

	while (d && !dwp_places_is_own_code(now->points[d - 1].code))
		d--;
	if (!d || d == now->count)
		return false;
	loops = dwp_code_loops(now->points[d - 1].code);
	for (uint32_t i = 0; loops && i < loops->count; i++)
		if (now->points[d - 1].at - loops->loops[i].from <= MOST_PREFIX)
			return false;
	return true;
}

/* Whether the operator before this one was called by the same line: most are, within a library. */
static bool loops_is_same_place(const char *thread)
{
	struct dwp_place last = dwp_torch_places.place, here = dwp_places_walk(thread, last.code);

	return here.at && here.at == last.at && dwp_torch_places.ended;
}

struct loops_seen dwp_loops_see(enum loops_kind kind, PyObject *module, PyObject *input)
{
	static struct chain now;
	struct loops_seen seen = { 0 };
	const char *thread = dwp_torch_places.thread;

	if (!thread || nest.library || (kind == LOOPS_OPERATOR && (!nest.count || loops_is_same_place(thread))) ||
	    !loops_walk(thread, &now))
		return seen;
	if (kind == LOOPS_BATCH && loops_is_library(&now)) {
		seen.left = nest.open && nest.count;
		nest.count = 0;
		nest.library = true;
		return seen;
	}
	if (nest.count)
		loops_follow(&now, kind, &seen);
	if (kind == LOOPS_CALL ? !seen.in && !dwp_loops_is_result(module, input)
	                       : kind == LOOPS_GRADIENT && !(seen.in && nest.gradients))
		loops_find(&now, kind, &seen);
	if (kind == LOOPS_GRADIENT)
		nest.gradients = true;
	if (kind == LOOPS_CALL && seen.in)
		loops_note_call(module, input);
	return seen;
}

uint64_t dwp_loops_place(void)
{
	static struct chain now;
	uint64_t place = 1;

	if (!dwp_torch_places.thread || !loops_walk(dwp_torch_places.thread, &now))
		return 0;
	for (uint32_t d = 0; d < now.count; d++)
		place = (place ^ (uint64_t)(uintptr_t)now.points[d].code ^ (uint64_t)now.points[d].at << 48) * 0x9e3779b97f4a7c15u;
	return place;
}

uint32_t dwp_loops_here(uint64_t *loops, uint32_t most)
{
	static struct chain now;
	struct level levels[MOST_LEVELS];
	uint32_t count;

	if (!dwp_torch_places.thread || !loops_walk(dwp_torch_places.thread, &now))
		return 0;
	count = loops_around(&now, levels);
	while (count && levels[count - 1].loop->expression)
		count--;
	for (uint32_t i = 0; i < count && i < most; i++)
		loops[i] = (uint64_t)(uintptr_t)levels[i].code + levels[i].loop->from;
	return count < most ? count : most;
}

bool dwp_loops_has_any(void)
{
	return nest.count > 0;
}

bool dwp_loops_needs_operators(void)
{
	return !nest.decided || nest.chosen + 1 < nest.count;
}

void dwp_loops_forget(void)
{
	nest.count = 0;
}
