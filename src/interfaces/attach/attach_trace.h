/* The trace that `dwell attach` writes: what was seen of threads of other processes, as samples and waits. */
#pragma once

#include "base/map.h"
#include "format/encode.h"
#include "process/follow.h"

/* A weight of 1 is a microsecond: the kernel says what each thread used between two looks. */
#define DW_ATTACH_PERIOD_NS 1000u

#define DW_ATTACH_WAITS 64u

struct dw_attach_thread;

/* A process in the trace. */
struct dw_attach_process {
	struct dw_encode_process journal;
	uint32_t streams;
	struct dw_attach_thread **threads; /* by tid, unordered */
	size_t thread_count, thread_capacity;
	struct dw_map by_tid;
	struct dw_attach_stack {
		uint32_t id, count;
		uint32_t *frames;
	} *stacks;
	size_t stack_count, stack_capacity;
	struct dw_map by_frames;
	struct dw_attach_module {
		uint32_t id;
		const char *name;
	} *modules;
	size_t module_count, module_capacity;
	struct {
		const void *key; /* a place, or the text of a wait */
		uint32_t id;
	} waits[DW_ATTACH_WAITS];
	size_t wait_count;
	struct dw_attach_made {
		uint32_t id;      /* of the FRAME */
		uint64_t address;
	} *made;              /* places in code that the process made */
	size_t made_count, made_capacity;
	uint64_t looks, stops, longest_stop_ns, stopped_ns;
	bool no_memory;
};

/* What the process is, as the trace says it. */
struct dw_attach_about {
	uint32_t pid, parent, parent_entry; /* parent_entry: the PROCESS of the program that ran in it before; 0: none */
	const char *path, *command;
	bool python;
};

/* Writes what the head of the trace says of the machine and the time. */
void dw_attach_head(struct dw_encode *encode);
void dw_attach_begin(struct dw_attach_process *process, struct dw_encode *encode, const struct dw_attach_about *about);
void dw_attach_meta(struct dw_attach_process *process, const char *key, const char *value, bool json);
/* Adds a look at one of its threads. */
void dw_attach_add(struct dw_attach_process *process, const struct dw_follow_look *look);
/* Names the frames of made code; a name is text of the trace. */
void dw_attach_name(struct dw_attach_process *process, const struct dw_attach_made *made, const char *name);
/* Writes what is still open. */
void dw_attach_end(struct dw_attach_process *process);
void dw_attach_reset(struct dw_attach_process *process);

/* Of a thread that waits: which of its frames is the function that it called to wait, the outermost of the C library;
 * 0 if the innermost is not of the library. */
size_t dw_attach_wait_frame(const struct dw_place *const *places, size_t count);
