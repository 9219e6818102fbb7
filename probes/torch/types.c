/*
 * Types: the operators that compute in 64-bit floating point.
 *
 * One array of NumPy can make a whole network compute in 64 bits, which takes twice as long. It takes too long to read the
 * types of inputs in all steps (see --shapes), so a callback reads them in few steps: the second one, the eighth, the
 * 32nd, and so on. The trace has, for the last of these steps, which part of each operator's work was in 64-bit floating point: its work is
 * taken as the elements of its inputs, times the last dimension of the last one, as a product's is.
 *
 * dwp_types_step() is called when a step has begun, in a thread that has steps. The callback is called in all threads that run operators.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "format/keys.h"

#define FIRST_STEP 2u /* the first one is unlike the others, and the second is the last that is always recorded (bound.c) */
#define MORE 4u       /* from one such step to the next, times */
#define SLOTS 128u     /* half of them are used at most, so that a search ends */
#define MOST_NAME 64u
#define MOST_TEXT 1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct types {
	uint64_t steps, next, callback;
	size_t count;
	struct types_operator {
		char name[MOST_NAME];
		double work, in_64;
	} operators[SLOTS];
} types = { .next = FIRST_STEP };

static double types_elements(const struct dwell_tensor *tensor)
{
	double elements = 1;

	for (unsigned i = 0; i < tensor->dimensions; i++)
		elements *= (double)tensor->sizes[i];
	return elements;
}

/* Adds a call to an operator's work. A tensor without dimensions is a number of Python, which has 64 bits and does not make the
 * result have them. */
static void types_add(const char *function, struct types_operator *to)
{
	struct dwell_tensor tensors[TORCH_MOST_TENSORS];
	unsigned count = dwp_abi_inputs(function, tensors, NULL);
	double all = 0, in_64 = 0, width = 1;

	for (unsigned i = 0; i < count; i++) {
		uint16_t type = tensors[i].dimensions ? tensors[i].dtype : DWELL_DTYPE_NONE;
		double elements;

		if (type != DWELL_FLOAT64 && type != DWELL_FLOAT32 && type != DWELL_FLOAT16 && type != DWELL_BFLOAT16)
			continue;
		elements = types_elements(&tensors[i]);
		width = (double)tensors[i].sizes[tensors[i].dimensions - 1];
		all += elements;
		in_64 += type == DWELL_FLOAT64 ? elements : 0;
	}
	to->work += all * width;
	to->in_64 += in_64 * width;
}

static struct types_operator *types_find(const char *name)
{
	struct types_operator *at;
	uint32_t hash = 0;
	size_t length = 0;

	for (; name[length]; length++)
		hash = hash * 31 + (unsigned char)name[length];
	for (at = &types.operators[hash % SLOTS]; at->name[0]; at = at == &types.operators[SLOTS - 1] ? types.operators : at + 1)
		if (strcmp(at->name, name) == 0)
			return at;
	if (types.count == SLOTS / 2 || !length || length >= MOST_NAME || strpbrk(name, " ="))
		return NULL;
	types.count++;
	memcpy(at->name, name, length + 1);
	return at;
}

TORCH_START(on_types, types_on_start)

/* Does not wait for the lock: after a fork it may never become free. */
static void types_on_start(const char *function)
{
	struct types_operator *operator;

	if (pthread_mutex_trylock(&lock) != 0)
		return;
	operator = types_find(dwp_abi_name(function));
	if (operator)
		types_add(function, operator);
	pthread_mutex_unlock(&lock);
}

static void types_on_end(const char *function, void *context)
{
}

static void types_note(void)
{
	char text[MOST_TEXT] = "";
	size_t length = 0;

	for (size_t i = 0; i < SLOTS; i++) {
		const struct types_operator *operator = &types.operators[i];
		int percent = operator->in_64 > 0 ? (int)(100 * operator->in_64 / operator->work) : 0;

		if (percent && length + strlen(operator->name) + 6 < sizeof text)
			length += (size_t)snprintf(text + length, sizeof text - length, "%s%s=%d",
			                           length ? " " : "", operator->name, percent);
	}
	dwell_meta(DW_KEY_TORCH_FLOAT64, length ? text : "none");
}

static void types_end(uint64_t step)
{
	dwp_abi_remove_callback(types.callback);
	types.callback = 0;
	types_note();
	__atomic_store_n(&types.next, MORE * (step - 1), __ATOMIC_RELAXED);
}

/* Not in a step in which no operators are recorded, which is to cost next to nothing: then a later one is read. So few steps are
 * read that their cost is not counted (bound.c). */
static void types_begin(uint64_t step)
{
	if (!dwp_abi_has_operators() || !dwp_abi_has_inputs())
		__atomic_store_n(&types.next, UINT64_MAX, __ATOMIC_RELAXED);
	if (types.next == UINT64_MAX || !dwell_wants(1u << DWELL_CATEGORY_OPERATOR))
		return;
	types.count = 0;
	memset(types.operators, 0, sizeof types.operators);
	types.callback = dwp_abi_add_callback((torch_start *)on_types, types_on_end, 1u << TORCH_FUNCTION, true);
	__atomic_store_n(&types.next, step + 1, __ATOMIC_RELAXED);
}

/* If two threads begin a step at the same time, one of the two may not be counted. Then types are read a step later. */
void dwp_types_step(void)
{
	uint64_t step = __atomic_load_n(&types.steps, __ATOMIC_RELAXED) + 1;

	__atomic_store_n(&types.steps, step, __ATOMIC_RELAXED);
	if (DWELL_LIKELY(step < __atomic_load_n(&types.next, __ATOMIC_RELAXED)) || pthread_mutex_trylock(&lock) != 0)
		return;
	if (types.callback)
		types_end(step);
	else if (step >= types.next)
		types_begin(step);
	pthread_mutex_unlock(&lock);
}

/* In a child of fork: its only thread is the one that called fork(), which has not locked. */
void dwp_types_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	if (types.callback)
		dwp_abi_remove_callback(types.callback);
	types = (struct types){ .next = FIRST_STEP };
}
