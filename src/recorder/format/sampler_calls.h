/*
 * How the sampler reaches the recorder of a process: by a table of functions, not by their names. A program may contain
 * a recorder of its own (libdwell.a, or the two files). Its samples then belong into the stream that the program's own
 * records are in, not into one of the libdwell.so that the sampler brings along.
 *
 * Each copy of the recorder passes its table when it is loaded; that of the program is loaded before main().
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the recorder: see `counter_rate` and `own_work` below. */
uint64_t dw_session_counter_rate(void);
void dw_session_own_work(uint64_t begins, uint64_t ns);
/* See `answered` below; probe.c. */
void dw_probe_answered(const char *name, uint64_t handle, const uint64_t at_ns[3], uint32_t sends);

/* Functions of <dwell/probe.h> and <dwell/probe_abi.h>, documented there, and where the two variables are. */
struct dw_sampler_calls {
	const struct dwell_gate_word *const *gate;
	uint32_t *code_generation; /* the sampler adds 1 after a dlopen() or dlclose() of the program has returned */
	bool (*intern_code)(void *const *addresses, unsigned count, uint32_t *frames);
	uint32_t (*intern_frame)(const char *function, const char *file, uint32_t line);
	uint32_t (*intern_stack)(const uint32_t *frames, unsigned count);
	void (*meta)(const char *key, const char *value);
	void (*meta_json)(const char *key, const char *json);
	bool (*sample)(uint32_t frame, uint32_t stack, uint32_t weight);
	void (*waited)(uint32_t frame, uint32_t stack, uint32_t weight, uint32_t holder);
	void (*heap)(struct dwell_site *site, const void *address, uint64_t size_bytes, uint32_t stack);
	void (*hurry)(bool begins);
	bool (*bus_action)(const struct sigaction *set, struct sigaction *get);
	/* Ticks per second of the processor's counter, if that is the run's clock; else 0. */
	uint64_t (*counter_rate)(void);
	void (*sandbox)(bool begins);
	bool (*meta_try)(const char *key, const char *value, bool json);
	uint64_t (*thread_leave)(bool blocked);
	void (*account_close)(bool close);
	/* Adds to what the run's file says of the recording's own work: begins of threads, children and programs, and CPU time. */
	void (*own_work)(uint64_t begins, uint64_t ns);
	/* A request that came over a connection. `at_ns`: when it began, when its answer began, and when it ended, by CLOCK_MONOTONIC.
	 * `sends`: how many calls sent the answer. */
	void (*answered)(const char *name, uint64_t handle, const uint64_t at_ns[3], uint32_t sends);
};

/* The table of the copy that this file is linked to. */
#define DW_SAMPLER_CALLS \
	{ &dwell_gate, &dwell_code_generation, dwell_intern_code, dwell_intern_frame, dwell_intern_stack, dwell_meta, \
	  dwell_meta_json, dwell_sample, dwell_waited, dwell_heap, dwell_hurry, dwell_bus_action, dw_session_counter_rate, \
	  dwell_sandbox, dwell_meta_try, dwell_thread_leave, dwell_account_close, dw_session_own_work, dw_probe_answered }

/* The sampler defines this function, whose name has the number of the table's layout. In a process without the sampler it
 * is NULL. The sampler uses the table from then on if the recorder is in the program's own file and no sample was recorded
 * yet. */
__attribute__((weak, visibility("default"))) void dwp_sampler_adopt_4(const struct dw_sampler_calls *calls);
