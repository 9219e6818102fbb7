/*
 * Programs that print all that they observe: return values, errno, signals, masks, descriptors, limits. tools/measure/harmless
 * runs each of them without and with dwell and compares what is printed and how the program ends.
 *
 * usage: harm KIND NAME               runs a program
 *        harm --list                  prints "KIND<tab>NAME" for each
 *        harm --run SECONDS FILE COMMAND...   see run.c
 *        harm --gate COMMAND...       waits for the file HARM_GATE, then executes the command
 *
 * A program prints the same at every run. A line "~ WHAT NUMBER MORE" has a number that may be greater by MORE with
 * dwell.
 */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define UNUSED __attribute__((unused))
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define TICKS .06 /* seconds of CPU time in which every rate of sampling has several samples */

/* A program: `run` gets `value`. */
struct harm_program {
	const char *kind, *name;
	void (*run)(long value);
	long value;
};

/* Each file's programs; the last one has no kind. */
extern const struct harm_program harm_signals[], harm_handlers[], harm_stacks[], harm_interrupted[], harm_timers[],
	harm_threads[], harm_locks[], harm_processes[], harm_descriptors[], harm_limits[], harm_loader[], harm_faults[],
	harm_files[], harm_memory[], harm_cancel[], harm_hangs[];

extern const char *harm_path; /* of this program */

/* Writes to standard output with one write(). */
__attribute__((format(printf, 1, 2))) void harm_say(const char *format, ...);
/* Says what a call returned, and errno if that is negative. */
void harm_result(const char *call, long result);
/* Says a number that may be greater by `more` with dwell. */
void harm_about(const char *what, long value, long more);
/* Uses this thread's processor. */
void harm_compute(double seconds);
double harm_now(void);
struct timespec harm_time(double seconds);
struct timespec harm_after(clockid_t clock, double seconds);

/* Signals whose handler counts. */
extern volatile sig_atomic_t harm_seen[65], harm_code[65], harm_value[65];
void harm_handle(int signal, int flags);
void harm_block_all(void);
/* SIGALRM after some seconds. */
void harm_alarm(double seconds);
/* Says the calling thread's mask and pending signals. */
void harm_say_mask(const char *where);
void harm_say_set(const char *what, const sigset_t *set);
/* Says how a child ended. */
void harm_say_status(const char *what, int status);
/* Runs `child` in a child made by fork(), and says how that ended. */
void harm_child(const char *what, void (*child)(long), long value);
/* Executes this program with another program's name in a child. */
void harm_execute(const char *kind, const char *name);
/* A thread that runs to its end. */
void harm_thread(void *(*begin)(void *), void *value, const pthread_attr_t *attributes);
/* `size` bytes, painted, with a page below them that cannot be accessed; and how many of them were used. */
char *harm_painted(size_t size);
size_t harm_used(const char *low, size_t size);

/* The path of a library of plugin.c. */
const char *harm_plugin(const char *name);
/* A thread that allocates blocks and frees those of other threads until harm_stop. `value` differs for each thread. */
void *harm_exchange(void *value);
extern volatile int harm_stop;
