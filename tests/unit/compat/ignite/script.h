/*
 * Shared parts of the engine's tests: data sources of numbers, and a text buffer to which handlers
 * write.
 */
#pragma once

#include <stdarg.h>

#include <dwell/compat/ignite.h>

#include "check.h"

static char page[1 << 16];
static size_t page_length;

__attribute__((format(printf, 1, 2), unused)) static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	page_length += (size_t)vsnprintf(page + page_length, sizeof page - page_length, format,
	                                 arguments);
	va_end(arguments);
	if (page_length >= sizeof page)
		page_length = sizeof page - 1;
}

static inline void clear_page(void)
{
	page_length = 0;
	page[0] = '\0';
}

/* Batches are addresses of numbers: first, first + 1, ... */
struct numbers {
	int values[1024];
	int at, count;
	int restarts;
};

static inline int numbers_next(void *user, void **batch)
{
	struct numbers *numbers = (struct numbers *)user;

	if (numbers->at >= numbers->count)
		return 0;
	*batch = &numbers->values[numbers->at++];
	return 1;
}

static inline int numbers_restart(void *user)
{
	struct numbers *numbers = (struct numbers *)user;

	numbers->at = 0;
	numbers->restarts++;
	return 0;
}

static inline struct dwell_ignite_data numbers_init(struct numbers *numbers, int first, int count,
                                                    bool sized, bool again)
{
	struct dwell_ignite_data data = { "Data", sized ? (uint64_t)count : 0, numbers_next,
		                       again ? numbers_restart : NULL, numbers };

	memset(numbers, 0, sizeof *numbers);
	for (int i = 0; i < count; i++)
		numbers->values[i] = first + i;
	numbers->count = count;
	return data;
}

__attribute__((unused)) static int do_nothing(struct dwell_ignite_engine *engine, void *batch, void *user)
{
	(void)engine, (void)batch, (void)user;
	return 0;
}

static inline struct dwell_ignite_limits limits_of(uint64_t epochs, uint64_t iters, uint64_t length)
{
	struct dwell_ignite_limits limits = DWELL_IGNITE_LIMITS_INIT;

	limits.max_epochs = epochs;
	limits.max_iters = iters;
	limits.epoch_length = length;
	return limits;
}
