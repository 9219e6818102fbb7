/*
 * The harness of the stress tests.
 *
 * A test runs in its own process and folder. Programs under record are child processes of it, so
 * that the test itself never records and its counts can be trusted. Counts of the recorded programs
 * are in shared memory, which remains if they are killed.
 *
 * tests/stress/meson.build lists the files; each has a table entry per test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode.h"
#include "dwell/dwell.h"
#include "dwell/probe.h"

#define STRESS_SKIP 77

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STRESS_SANITIZED 1 /* memory is not what it would be */
#else
#define STRESS_SANITIZED 0
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define STRESS_TSAN 1
/* The kernel orders a thread's end before its slot is taken over; TSan learns it here. */
#define STRESS_THREAD_ENDS() __tsan_release(dwell_this_stream)
#else
#define STRESS_TSAN 0
#define STRESS_THREAD_ENDS() ((void)0)
#endif

/* How often a test repeats something. Under a sanitizer a repetition takes five to ten times as long, and what a
 * sanitizer reports is in the first ones. The build without sanitizers makes all of them. */
#define STRESS_TIMES(usual, in_long) (stress_long ? (in_long) : STRESS_SANITIZED ? (usual) / 4 : (usual))

struct stress_test {
	const char *name;
	void (*run)(void);
};

/* One a file, ended by a NULL name. */
extern const struct stress_test kill_tests[], thread_tests[], fork_tests[], signal_tests[],
    disk_tests[], bound_tests[], step_tests[], kernel_tests[], session_tests[], gate_tests[], probe_tests[],
    stack_tests[], function_tests[], guest_tests[];

extern bool stress_long;             /* `make stress` */
extern const char *stress_programs;  /* folder of this program and its helpers */

/* A failure is printed and the test goes on. */
__attribute__((format(printf, 3, 4))) void stress_fail(const char *file, int line,
                                                       const char *format, ...);
__attribute__((noreturn)) void stress_skip(const char *reason);

#define FAIL(...) stress_fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition)                      \
	do {                                      \
		if (!(condition))                     \
			FAIL("not true: %s", #condition); \
	} while (0)
#define CHECK_U64(got, want)                                                              \
	do {                                                                                  \
		uint64_t check_got = (got), check_want = (want);                                  \
		if (check_got != check_want)                                                      \
			FAIL("%s is %llu, not %llu", #got, (unsigned long long)check_got,             \
			     (unsigned long long)check_want);                                         \
	} while (0)

/* Zeroed memory that children share. */
void *stress_shared(size_t bytes);
/* Starts recording to `path`, or dies saying why. `options` NULL: the defaults. */
void stress_start(const char *path, const struct dwell_options *options);
void stress_stop(void);
/* Runs fn in a child, which then exits as a program does; returns its wait status. */
int stress_child(void (*fn)(void *), void *argument);
pid_t stress_spawn(void (*fn)(void *), void *argument);
int stress_wait(pid_t pid);
#define CHECK_EXITED(status, code)                                                 \
	do {                                                                           \
		int check_status = (status);                                               \
		if (!WIFEXITED(check_status) || WEXITSTATUS(check_status) != (code))       \
			FAIL("a program ended with status %#x, not %d", check_status, (code)); \
	} while (0)

/* Opens and walks a trace and fails when anything in it is wrong. */
bool stress_read(struct trace *trace, const char *path);
/* A trace to record children into by DWELL_TRACE, as `dwell run` makes it. */
void stress_launch(const char *trace, char *const command[]);
int stress_launched(const char *trace, char *const command[]);

void stress_sleep_us(unsigned us);
uint64_t stress_random(void);
uint64_t stress_now_ns(void);
long stress_status_kb(const char *key); /* of /proc/self/status */

/* n ranges of an interned name, one after the other. */
void stress_ranges(uint32_t id, unsigned n);
