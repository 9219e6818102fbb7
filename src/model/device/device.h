/*
 * Device work: what the devices of a run did, and which part of the program caused it.
 *
 * An event is something that a device did: a kernel, a copy, a wait. The host's call that caused it
 * has the same correlation number. The ranges that were open around that call are the event's
 * owners. Device time is the time of kernels, copies and memory sets. Events can overlap, also
 * within one queue.
 *
 * An event is in scope if its call began in scope. An event without a known call is in scope if the
 * event itself began in scope. What a graph launches belongs to the ranges in which its nodes were made.
 * Times are ns of the run. A trace without device chunks has no
 * events, and then the product costs nothing.
 */
#pragma once

#include "dwell/probe.h"
#include "model/core/model.h"

/* What a device was busy with. Other events (waits, ranges, overhead) have no class. */
enum dw_device_class { DW_CLASS_COMPUTE, DW_CLASS_COMMUNICATION, DW_CLASS_COPY, DW_CLASS_COUNT };

/* X(NAME, text) */
#define DW_FAMILIES(X)              \
	X(MATMUL, "matmul")             \
	X(CONVOLUTION, "convolution")   \
	X(ATTENTION, "attention")       \
	X(NORMALISATION, "normalisation") \
	X(POOLING, "pooling")           \
	X(SOFTMAX, "softmax")           \
	X(EMBEDDING, "embedding")       \
	X(OPTIMIZER, "optimizer")       \
	X(REDUCTION, "reduction")       \
	X(ELEMENTWISE, "elementwise")   \
	X(SORT, "sort and scan")        \
	X(COMMUNICATION, "communication") \
	X(COPY, "copy")                 \
	X(SET, "memory set")            \
	X(OTHER, "other")

enum dw_family {
#define X(name, text) DW_FAMILY_##name,
	DW_FAMILIES(X)
#undef X
	DW_FAMILY_COUNT
};

/* A name of events. Equal names of different kinds are different entries. */
struct dw_device_name {
	const char *name;
	uint32_t kind;              /* enum dw_device_kind */
	enum dw_device_class class; /* DW_CLASS_COUNT: none */
	enum dw_family family;
};

struct dw_device_event {
	uint64_t start_ns, end_ns;
	uint64_t bytes;        /* of copies, sets and memory */
	uint32_t name;         /* index */
	uint32_t queue;        /* index in the source */
	uint32_t call;         /* index, or DW_NO_INDEX */
	uint32_t wait_queue;   /* of a wait: index of the queue that is waited for, or DW_NO_INDEX */
	uint16_t kind, detail; /* as in the file */
	bool in_scope;
	uint32_t correlation;
	uint32_t node;         /* until calls are joined: key of the graph's node, or DW_NO_INDEX */
	const struct dw_entry_launch *launch; /* a kernel's shape, or NULL */
};

/* A call of the host that caused events, or that waits for a device. */
struct dw_device_call {
	uint64_t start_ns, end_ns;
	uint64_t device_ns;    /* sum of the durations of its events that have a class */
	uint32_t symbol, thread;
	uint32_t owner;        /* index of the innermost range around it, or DW_NO_INDEX */
	uint32_t for_thread;   /* the thread for which it was called: see dw_device_next_owner() */
	uint32_t around;       /* index of the innermost named range of that thread, or DW_NO_INDEX */
	uint32_t events;       /* number of its events */
	uint32_t work;         /* number of its events that have a class */
	uint32_t correlation;  /* its number; 0: it has only an external one */
	bool in_scope;
	bool synchronises;     /* it returns when the device has finished some work */
	bool late;             /* the driver reported it late: no range of the thread's stream stands for it */
	/* The part of a graph's launch that works for some ranges, which were open when its nodes were made. They are its owners, inside
	 * those of the launch. 0: it is no such part. */
	uint64_t made_ns;
	uint32_t made_thread;
	bool further;          /* another part of the same launch is in the list */
};

/* Of deeper ranges around a call the outermost ones are its owners: products walk the owners of each
 * call, so their number is bounded. */
#define DW_DEVICE_DEEPEST 1024u

/* Categories of ranges that a program names. */
#define DW_DEVICE_BIT(name) (1u << DWELL_CATEGORY_##name)
#define DW_DEVICE_NAMED                                                                       \
	(DW_DEVICE_BIT(ZONE) | DW_DEVICE_BIT(PHASE) | DW_DEVICE_BIT(DATA) | DW_DEVICE_BIT(ACTION) | \
	 DW_DEVICE_BIT(EVENT) | DW_DEVICE_BIT(HANDLER) | DW_DEVICE_BIT(COMMUNICATION) |            \
	 DW_DEVICE_BIT(CHECKPOINT) | DW_DEVICE_BIT(EVALUATION) | DW_DEVICE_BIT(COLLECTOR) |        \
	 DW_DEVICE_BIT(PROFILER))

/* A range of the host that encloses such calls. The index of a parent is smaller than its own. */
struct dw_device_owner {
	uint64_t start_ns, end_ns;
	uint64_t self_ns, total_ns; /* device time of the calls directly in it; of all calls in it */
	uint64_t sequence;     /* of its LINK record; UINT64_MAX: none */
	uint32_t forward_thread; /* of its LINK record, or DW_NO_INDEX: it is the forward itself */
	uint32_t parent;       /* index, or DW_NO_INDEX */
	uint32_t forward;      /* index of the forward operator's owner, or DW_NO_INDEX */
	uint32_t symbol, thread;
	uint32_t stack;        /* its call site, or that of the range around it: id of the file; 0: none */
	bool in_scope;
};

/* A launch takes 5 to 10 us from the host's call to the begin of the kernel, and twice that under some profilers. A device that is
 * idle for longer after its work was submitted has another cause for it, and a call that takes longer does more than launch. */
#define DW_LAUNCH_NS 30000u

/* A queue with events: events[first] to events[first + count - 1], ordered by begin. */
struct dw_device_queue {
	uint32_t queue;        /* index in the source */
	size_t first, count;
};

/* A time in which the host submitted work that was not recorded, to bound the cost. */
struct dw_device_gap {
	uint64_t start_ns, end_ns; /* UINT64_MAX: it did not end */
	uint32_t process;
};

/* A range of the host that the program names, or that takes longer than a launch. Whoever asks what the host did while a device was
 * idle needs no others. */
struct dw_device_range {
	uint64_t start_ns, end_ns;
	uint32_t thread, symbol, depth;
};

struct dw_device_work {
	struct dw_device_event *events;   /* by queue, then by begin */
	size_t event_count;
	struct dw_device_queue *queues;   /* only those with events: by process, device, number */
	size_t queue_count;
	struct dw_device_name *names;
	size_t name_count;
	struct dw_device_call *calls;     /* by process and begin */
	size_t call_count;
	struct dw_device_owner *owners;
	size_t owner_count;
	size_t without_call;              /* events of a class whose call is not in the trace */
	size_t before_call;               /* events that began before their call did */
	size_t duplicates;                /* calls whose number an earlier call of the process has */
	uint64_t clock_error_ns;          /* of the least exact device clock */
	struct dw_device_gap *gaps;       /* by process and time; they do not overlap */
	size_t gap_count;
	struct dw_device_range *ranges;   /* in scope; by thread and begin, outer ones first */
	size_t range_count;
	double recorded;                  /* part of the time in no gap, from the first event on; 1: no gaps */
};

/* Computed once for a model, which owns the result. NULL with `error` if memory ran out. */
const struct dw_device_work *dw_model_device_work(struct dw_model *model, struct dwell_error *error);

/* The first gap of the process that ends after `ns`, or NULL. */
const struct dw_device_gap *dw_device_gap_after(const struct dw_device_work *work, uint32_t process, uint64_t ns);

/* The innermost owner of one of the `categories` (bits: 1 << category) from `owner` outwards. If
 * there is none, continues with the forward operator of a backward operator. DW_NO_INDEX: none. */
uint32_t dw_device_owner_of(const struct dw_model *model, const struct dw_device_work *work,
                            uint32_t owner, uint32_t categories);

/*
 * The ranges around a call, from the innermost one outwards: those of its own thread, then the named
 * ranges (phases, zones, actions, handlers, ...) that were open when it began, of the thread for which it
 * was made. For a call in a backward operator this is the thread of the forward operator; for a call in a
 * thread without steps it is the thread of its process that steps. So work of autograd's threads belongs to
 * the phase "backward" of the training loop. Otherwise it is the call's own thread.
 */
static inline uint32_t dw_device_first_owner(const struct dw_device_call *call)
{
	return call->owner != DW_NO_INDEX ? call->owner : call->around;
}
static inline uint32_t dw_device_next_owner(const struct dw_device_work *work,
                                            const struct dw_device_call *call, uint32_t owner)
{
	const struct dw_device_owner *at = &work->owners[owner];

	return at->parent != DW_NO_INDEX || at->thread != call->thread ? at->parent : call->around;
}

/* Whether the run has events of devices. */
static inline bool dw_model_has_device(const struct dw_model *model)
{
	return dw_model_source(model)->events_count > 0;
}

/* events.c: the memories of a copy, enum dw_device_memory; of a set the second one counts. */
void dw_device_memories(const struct dw_device_event *event, uint32_t *from, uint32_t *to);

/* families.c: the family of an event, by its kind and name. */
enum dw_family dw_device_family(uint32_t kind, const char *name);
const char *dw_family_name(enum dw_family family);
/* Whether the runtime call of this name waits for a device before it returns. */
bool dw_device_call_waits(const char *name);
