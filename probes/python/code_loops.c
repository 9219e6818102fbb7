/*
 * Finds the loops of a function in its instructions. See code_loops.h.
 *
 * A `for` lasts from its FOR_ITER to where FOR_ITER jumps when it is done. A `while` lasts from
 * where it jumps back to, to the jump. A jump back in the handler of an exception is none: handlers
 * may lie behind everything else, and what lies between is not in the loop.
 */
#include "code_loops.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CODES 1024u /* of which half are used */
#define MOST_LOOPS 256u

static struct dwp_code_loops *known[MOST_CODES];
static uint32_t known_count;

/* The numbers of instructions differ between versions of Python. Those that it does not have are 0. */
static struct {
	uint8_t extended, for_iter, back, back_true, back_false, back_none, back_not_none;
	uint8_t handler, reraise, copy, pop_except, list_append, set_add, map_add;
	uint8_t leaves[7]; /* behind them the function does not go on */
	bool forward[256]; /* jumps */
} op;

static uint8_t code_loops_number(PyObject *numbers, const char *name)
{
	PyObject *number = PyDict_GetItemString(numbers, name); /* borrowed */
	long value = number ? PyLong_AsLong(number) : 0;

	return value > 0 && value < 256 ? (uint8_t)value : 0;
}

static void code_loops_read_jumps(PyObject *module, PyObject *numbers)
{
	static const char *const names[] = { "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE",
		"RETURN_CONST", "RAISE_VARARGS", "RERAISE" };
	PyObject *jumps = PyObject_GetAttrString(module, "hasjrel");

	for (Py_ssize_t i = 0; jumps && i < PySequence_Size(jumps); i++) {
		PyObject *number = PySequence_GetItem(jumps, i);
		long value = number ? PyLong_AsLong(number) : -1;

		if (value >= 0 && value < 256)
			op.forward[value] = true;
		Py_XDECREF(number);
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		op.leaves[i] = code_loops_number(numbers, names[i]);
	op.forward[op.back] = op.forward[op.back_true] = op.forward[op.back_false] = op.forward[op.back_none] =
		op.forward[op.back_not_none] = op.forward[op.leaves[2]] = false;
	Py_XDECREF(jumps);
	PyErr_Clear();
}

static bool code_loops_read_numbers(void)
{
	PyObject *module = op.for_iter ? NULL : PyImport_ImportModule("opcode");
	PyObject *numbers = module ? PyObject_GetAttrString(module, "opmap") : NULL;

	if (numbers) {
		op.extended = code_loops_number(numbers, "EXTENDED_ARG");
		op.back = code_loops_number(numbers, "JUMP_BACKWARD");
		op.back_true = code_loops_number(numbers, "POP_JUMP_BACKWARD_IF_TRUE");
		op.back_false = code_loops_number(numbers, "POP_JUMP_BACKWARD_IF_FALSE");
		op.back_none = code_loops_number(numbers, "POP_JUMP_BACKWARD_IF_NONE");
		op.back_not_none = code_loops_number(numbers, "POP_JUMP_BACKWARD_IF_NOT_NONE");
		op.handler = code_loops_number(numbers, "PUSH_EXC_INFO");
		op.reraise = code_loops_number(numbers, "RERAISE");
		op.copy = code_loops_number(numbers, "COPY");
		op.pop_except = code_loops_number(numbers, "POP_EXCEPT");
		op.list_append = code_loops_number(numbers, "LIST_APPEND");
		op.set_add = code_loops_number(numbers, "SET_ADD");
		op.map_add = code_loops_number(numbers, "MAP_ADD");
		op.for_iter = code_loops_number(numbers, "FOR_ITER");
		code_loops_read_jumps(module, numbers);
	}
	Py_XDECREF(numbers);
	Py_XDECREF(module);
	PyErr_Clear();
	return op.for_iter != 0;
}

/* ---- reading instructions ------------------------------------------------------------------ */

struct reading {
	struct dwp_code_loop loops[MOST_LOOPS];
	bool is_for[MOST_LOOPS];
	uint32_t count;
	uint32_t handlers;       /* nested handlers of exceptions */
	uint8_t before[2];       /* the last instructions */
	bool expression;         /* the whole function is a comprehension */
};

static void reading_add(struct reading *reading, uint32_t from, uint32_t to, bool is_for)
{
	if (reading->count == MOST_LOOPS)
		return;
	reading->is_for[reading->count] = is_for;
	reading->loops[reading->count++] = (struct dwp_code_loop){ from, to, reading->expression };
}

/* A jump back to `from` that ends at `to`. A `while` whose condition is tested at its begin and at its end
 * has two targets of jumps, so what overlaps is one loop. */
static void reading_jump(struct reading *reading, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < reading->count; i++) {
		struct dwp_code_loop *loop = &reading->loops[i];

		if (reading->is_for[i] && loop->from == from)
			return;
		if (reading->is_for[i] || !(loop->from == from || (loop->from < from && from < loop->to && loop->to < to)))
			continue;
		loop->to = to > loop->to ? to : loop->to;
		return;
	}
	reading_add(reading, from, to, false);
}

/* An instruction that only comprehensions have marks the innermost loop around it. */
static void reading_append(struct reading *reading, uint32_t at)
{
	struct dwp_code_loop *inner = NULL;

	for (uint32_t i = 0; i < reading->count; i++)
		if (reading->loops[i].from <= at && at < reading->loops[i].to &&
		    (!inner || reading->loops[i].from > inner->from))
			inner = &reading->loops[i];
	if (inner)
		inner->expression = true;
}

/* `start`: of its prefixes; `next`: behind its caches. */
static void reading_instruction(struct reading *reading, uint8_t code, uint32_t argument, uint32_t start,
                                uint32_t next)
{
	if (code == op.handler)
		reading->handlers++;
	else if (code == op.reraise && reading->before[0] == op.copy && reading->before[1] == op.pop_except)
		reading->handlers -= reading->handlers > 0;
	else if (code == op.for_iter)
		reading_add(reading, start, next + 2 * argument, true);
	else if (code == op.back || code == op.back_true || code == op.back_false || code == op.back_none ||
	         code == op.back_not_none) {
		if (!reading->handlers && 2 * argument <= next)
			reading_jump(reading, next - 2 * argument, next);
	} else if ((code == op.list_append || code == op.set_add || code == op.map_add) && argument > 1)
		reading_append(reading, start);
	reading->before[0] = reading->before[1];
	reading->before[1] = code;
}

struct instruction {
	uint8_t code;
	uint32_t argument, start, next; /* of its prefixes; behind its caches */
};

/* The instruction at `next`. False: there is none. */
static bool code_loops_next(const uint8_t *bytes, uint32_t size, struct instruction *one)
{
	uint32_t at = one->next;

	*one = (struct instruction){ .start = at };
	while (at + 1 < size) {
		one->code = bytes[at];
		one->argument = one->argument << 8 | bytes[at + 1];
		at += 2;
		if (one->code == op.extended)
			continue;
		while (at + 1 < size && bytes[at] == 0) /* caches belong to the instruction before them */
			at += 2;
		one->next = at;
		return true;
	}
	return false;
}

static void reading_all(struct reading *reading, const uint8_t *bytes, uint32_t size)
{
	struct instruction one = { .next = 0 };

	while (code_loops_next(bytes, size, &one))
		if (one.code)
			reading_instruction(reading, one.code, one.argument, one.start, one.next);
}

static int code_loops_compare(const void *a, const void *b)
{
	const struct dwp_code_loop *one = a, *other = b;

	if (one->from != other->from)
		return one->from < other->from ? -1 : 1;
	return one->to > other->to ? -1 : one->to < other->to;
}

/* ---- what is known ------------------------------------------------------------------------- */

/* The slot of a code, or the free slot where it belongs. */
static struct dwp_code_loops **code_loops_slot(const char *code)
{
	uint32_t at = (uint32_t)((uint64_t)(uintptr_t)code * 0x9e3779b97f4a7c15u >> 54);

	while (known[at] && known[at]->code != code)
		at = (at + 1) % MOST_CODES;
	return &known[at];
}

const struct dwp_code_loops *dwp_code_loops_known(const char *code)
{
	return *code_loops_slot(code);
}

static bool code_loops_is_expression(PyObject *code)
{
	static const char *const names[] = { "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>" };
	char name[64];

	dwp_python_text(code, "co_name", name, sizeof name);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static struct dwp_code_loops *code_loops_make(PyObject *code)
{
	PyObject *bytes = code_loops_read_numbers() ? PyObject_GetAttrString(code, "co_code") : NULL;
	struct reading *reading = bytes && PyBytes_Check(bytes) ? calloc(1, sizeof *reading) : NULL;
	struct dwp_code_loops *loops = NULL;
	char file[1024];

	if (reading) {
		reading->expression = code_loops_is_expression(code);
		reading_all(reading, (const uint8_t *)PyBytes_AsString(bytes), (uint32_t)PyBytes_Size(bytes));
		qsort(reading->loops, reading->count, sizeof reading->loops[0], code_loops_compare);
		loops = calloc(1, sizeof *loops + reading->count * sizeof loops->loops[0]);
	}
	if (loops) {
		loops->count = reading->count;
		memcpy(loops->loops, reading->loops, reading->count * sizeof loops->loops[0]);
		dwp_python_text(code, "co_filename", file, sizeof file);
		loops->transforms = strstr(file, "/torch/_functorch/") || strstr(file, "/functorch/_src/");
	}
	free(reading);
	Py_XDECREF(bytes);
	PyErr_Clear();
	return loops;
}

const struct dwp_code_loops *dwp_code_loops(const char *code)
{
	static const PyTypeObject *type;
	struct dwp_code_loops **slot = code_loops_slot(code);
	PyObject *object = (PyObject *)(uintptr_t)code;

	if (*slot)
		return *slot;
	if (!type)
		type = dlsym(RTLD_DEFAULT, "PyCode_Type");
	if (known_count >= MOST_CODES / 2)
		return NULL;
	/* What stands in frames between Python and C is no code of a program, and has no loops. */
	*slot = dwp_python_is_code(object, type) ? code_loops_make(object) : calloc(1, sizeof **slot);
	if (!*slot)
		return NULL;
	Py_IncRef(object); /* not the macro, which would write into a constant */
	(*slot)->code = code;
	known_count++;
	return *slot;
}

/* ---- ways --------------------------------------------------------------------------------------- */

static bool code_loops_leaves(uint8_t code)
{
	for (size_t i = 0; i < sizeof op.leaves; i++)
		if (op.leaves[i] && op.leaves[i] == code)
			return true;
	return false;
}

/* Goes through the instructions in order, and marks to which ones a way leads. */
static bool code_loops_find_way(const uint8_t *bytes, uint32_t size, bool *targets, uint32_t from, uint32_t to)
{
	struct instruction one = { .next = 0 };
	bool on_way = false;

	while (code_loops_next(bytes, size, &one)) {
		uint32_t target = one.next + 2 * one.argument;

		on_way |= targets[one.start / 2] || (one.start <= from && from < one.next);
		if (one.start <= to && to < one.next)
			return on_way;
		if (on_way && op.forward[one.code] && target < size)
			targets[target / 2] = true;
		on_way &= !code_loops_leaves(one.code);
	}
	return false;
}

static bool code_loops_reaches(const char *code, uint32_t from, uint32_t to)
{
	PyObject *bytes = code_loops_read_numbers() ? PyObject_GetAttrString((PyObject *)(uintptr_t)code, "co_code") : NULL;
	uint32_t size = bytes && PyBytes_Check(bytes) ? (uint32_t)PyBytes_Size(bytes) : 0;
	bool *targets = size ? calloc(size / 2 + 1, sizeof *targets) : NULL;
	bool reaches = targets && code_loops_find_way((const uint8_t *)PyBytes_AsString(bytes), size, targets, from, to);

	free(targets);
	Py_XDECREF(bytes);
	PyErr_Clear();
	return reaches;
}

#define MOST_WAYS 64u

bool dwp_code_reaches(const char *code, uint32_t from, uint32_t to)
{
	/* Those that were asked for last: a program goes the same ways again and again. Codes live forever (dwp_code_loops()). */
	static struct {
		const char *code;
		uint32_t from, to;
		bool reaches;
	} ways[MOST_WAYS], *way;

	way = &ways[((uintptr_t)code >> 4 ^ from ^ (to << 3)) % MOST_WAYS];
	if (way->code != code || way->from != from || way->to != to) {
		way->reaches = code_loops_reaches(code, from, to);
		way->code = code;
		way->from = from;
		way->to = to;
	}
	return way->reaches;
}
