/*
 * What an execution of a fuzz target may take: memory and time in proportion to its input.
 *
 * Every target calls bounds_begin(), works, and calls bounds_end() with the bytes of its
 * input as the code under test saw them. Beyond the bounds it aborts, so that a fuzzer, a
 * replay of the corpus and the hostile inputs of hostile.c all find what grows faster than
 * what was given. All memory from malloc() counts, of all threads, and CPU time of the
 * process: a busy machine changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define BOUNDS_SPARE_BYTES ((size_t)64 << 20)
#define BOUNDS_BYTES_A_BYTE 16u
/* Targets ask for many products of a trace. Sanitizers take several times the time. */
#define BOUNDS_SPARE_NS 500000000u
#define BOUNDS_NS_A_BYTE 1500u
#define BOUNDS_SANITIZED 8u

/* Set where an input is run once: all that a target can ask is asked. A fuzzer asks a part
 * of it each time, chosen by the input, and gets through many more. */
extern bool bounds_ask_all;
/* Whether the `which`-th of `count` parts is asked for this input. */
bool bounds_asks(const uint8_t *data, size_t size, unsigned which, unsigned count);

void bounds_begin(void);
/* `data` and `size`: the execution's input, kept in $FUZZ_SLOWEST when it was the slowest. */
void bounds_end(const uint8_t *data, size_t size, size_t input_bytes);
/* To standard error: the slowest input and the one that took most memory. */
void bounds_print(void);

/* How many of something a hostile input has. Under sanitizers fewer: they look for what is read and written wrongly, and not for the
 * time that much of it takes. */
static inline unsigned bounds_many(unsigned count)
{
	return getenv("DWELL_TEST_SLOW") ? count / 8 : count;
}

static inline void demand(bool holds)
{
	if (!holds)
		abort();
}
