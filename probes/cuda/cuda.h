/*
 * The CUDA probe: what devices do, by CUPTI's activity records.
 *
 *   process   how the library gets into a process, and when it records: one thread watches the gate
 *   bursts    bounds the cost: when devices are recorded, if nobody asks for more
 *   cupti     CUPTI's library: found, loaded, subscribed to
 *   kinds     kinds of records and calls of each tier, on and off
 *   noted     calls that dwell notes itself, by callbacks
 *   calls     what CUDA's calls do, by their names
 *   handover  another tool of the program takes CUPTI: dwell leaves first
 *   redirect  replaces functions of a library
 *   graphs    by which ranges the nodes of CUDA graphs were made
 *   buffers   CUPTI's buffers: given, taken, bounded
 *   records   activity records become events of the trace
 *   energy    what devices use, by NVML
 *   lost      what was lost, and why
 *   raw       buffers as they came, for tests
 *
 * The driver loads this library when a program first uses CUDA (CUDA_INJECTION64_PATH, which `dwell run`
 * sets). A program without CUDA loads nothing. Of CUPTI its activity interface is used; callbacks are for captures of graphs
 * alone, unless `--cuda=light-callbacks` asks for those of calls. A call's record has its thread and its time, so the reader
 * finds the ranges that were open around it, and nothing is done when a range begins.
 *
 * Data flows one way: CUPTI fills a buffer -> buffers.c -> records.c -> dwell_device_events(). Only public
 * headers of dwell are used.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dwell/probe.h>

#include "cupti_types.h"

/* ---- CUPTI's functions: X(name, type of its arguments); those of version 2 may be missing --------------- */

#define DWC_REQUIRED(X)                                                                         \
	X(cuptiGetVersion, (uint32_t *version))                                                     \
	X(cuptiSubscribe, (void **subscriber, void *callback, void *user))                          \
	X(cuptiUnsubscribe, (void *subscriber))                                                     \
	X(cuptiActivityRegisterCallbacks, (cupti_request_function, cupti_complete_function))        \
	X(cuptiActivityEnable, (int kind))                                                          \
	X(cuptiActivityDisable, (int kind))                                                         \
	X(cuptiActivityFlushAll, (uint32_t flag))                                                   \
	X(cuptiActivityGetNextRecord, (uint8_t *buffer, size_t valid, void **record))               \
	X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))     \
	X(cuptiGetTimestamp, (uint64_t *ns))                                                        \
	X(cuptiGetCallbackName, (int domain, uint32_t function, const char **name))
#define DWC_OPTIONAL(X)                                                                         \
	X(cuptiSetThreadIdType, (int type))                                                         \
	X(cuptiActivitySetAttribute, (int attribute, size_t *size, void *value))                    \
	X(cuptiActivitySetAttribute_v2, (void *subscriber, int attribute, size_t *size, void *value)) \
	X(cuptiActivityEnableHWTrace, (uint8_t enable))                                             \
	X(cuptiGetGraphNodeId, (void *node, uint64_t *id))                                          \
	X(cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t id))        \
	X(cuptiActivityEnableRuntimeApi, (uint32_t function, uint8_t enable))                       \
	X(cuptiActivityEnableDriverApi, (uint32_t function, uint8_t enable))                        \
	X(cuptiActivityEnableRuntimeApi_v2, (void *subscriber, uint32_t function, uint8_t enable))  \
	X(cuptiActivityEnableDriverApi_v2, (void *subscriber, uint32_t function, uint8_t enable))   \
	X(cuptiActivityRegisterTimestampCallback, (void *clock))                                    \
	X(cuptiActivityEnableContext, (void *context, int kind))                                    \
	X(cuptiActivityEnableAndDump, (int kind))                                                   \
	X(cuptiFinalize, (void))                                                                    \
	X(cuptiSubscribe_v2, (void **subscriber, void *callback, void *user, struct cupti_subscriber *)) \
	X(cuptiActivityRegisterCallbacks_v2,                                                        \
	  (void *subscriber, cupti_request_v2_function, cupti_complete_v2_function))                \
	X(cuptiActivityEnable_v2, (void *subscriber, int kind, void *config))                       \
	X(cuptiActivityDisable_v2, (void *subscriber, int kind, void *config))                      \
	X(cuptiActivityGetNextRecord_v2, (void *subscriber, uint8_t *buffer, size_t valid, void **record)) \
	X(cuptiActivityGetNumDroppedRecords_v2,                                                     \
	  (void *subscriber, void *context, uint32_t stream, size_t *dropped))                      \
	X(cuptiGetTimestamp_v2, (void *subscriber, uint64_t *ns))

struct dwc_functions {
#define X(name, arguments) int (*name) arguments;
	DWC_REQUIRED(X) DWC_OPTIONAL(X)
#undef X
};

/* ---- cupti.c -------------------------------------------------------------------------------------------- */

struct dwc_cupti {
	struct dwc_functions call;
	uint32_t version;    /* 18 for 11.8, 130500 for 13.5 */
	void *subscriber;    /* of version 2, or NULL */
	void *alone;         /* of version 1, for callbacks; NULL once another tool has subscribed */
	bool has_threads;    /* records of calls have the kernel's thread ids */
	bool seen;           /* another tool subscribed by handover.c, which will see when it enables a kind */
	char path[512];      /* of the library */
	char lacks[256];     /* why nothing is recorded, or "" */
};
extern struct dwc_cupti dwc_cupti;

/* What CUPTI calls for a buffer, and with a full one. */
struct dwc_buffer_functions {
	cupti_request_function request;
	cupti_complete_function complete;
	cupti_request_v2_function request_v2;
	cupti_complete_v2_function complete_v2;
};
/* What CUPTI calls when streams are captured and nodes of graphs are made. */
typedef void dwc_callback(int domain, uint32_t id, const void *data);
/* Loads CUPTI and registers these functions. False: `lacks` says why. */
bool dwc_cupti_open(const struct dwc_buffer_functions *buffers, dwc_callback *callback);
/* A subscriber that callbacks can be enabled for; NULL: there is none. */
void *dwc_cupti_caller(void);
/* Sets an attribute of the activity interface. False: this CUPTI does not have it, or refuses. */
bool dwc_cupti_set_attribute(int attribute, size_t size, uint64_t value);
/* Ends the subscription of version 1, because another tool subscribes. */
void dwc_cupti_make_room(void);
/* Ends the subscription, if there is one, and what dwell has set; no kind may be enabled. */
void dwc_cupti_close(void);
/* Asks CUPTI for its buffers; `all`: also for those whose work has not ended. */
void dwc_cupti_flush(bool all);
/* Whether another tool has subscribed since, unseen by handover.c. */
bool dwc_cupti_taken(void);
/* The next record of a buffer; NULL at its end. */
const void *dwc_cupti_next(uint8_t *buffer, size_t valid, const void *record);
/* Records that CUPTI dropped since the last call. */
uint64_t dwc_cupti_dropped(void);
bool dwc_cupti_time(uint64_t *ns);

/* ---- calls.c -------------------------------------------------------------------------------------------- */

/* ASKS: asks for something and does nothing with a device. Such calls are not recorded. CAPTURES, CAPTURED: begins or ends to
 * capture a stream as a graph. */
enum dwc_call { DWC_CALL_OTHER = 1, DWC_CALL_SUBMITS, DWC_CALL_WAITS, DWC_CALL_ASKS, DWC_CALL_CAPTURES, DWC_CALL_CAPTURED };
#define DWC_FUNCTIONS 2048u /* CUPTI numbers the functions of CUDA, in two domains; no number is greater */
/* The same by its number (cupti.c). */
enum dwc_call dwc_cupti_call_of(bool runtime, uint32_t function);
/* What the call does that CUPTI calls by this name, with or without versions in it. */
enum dwc_call dwc_call_of(const char *name);

/* ---- kinds.c -------------------------------------------------------------------------------------------- */

/*
 * What is recorded. FULL: all kinds of records, and all calls but those that only ask. LIGHT: the fewest that tell how busy a device
 * was, for whom it worked, and what the host waited for: kernels, copies, memory sets, and the calls that submit these or wait.
 * CUPTI has its buffers before they are needed then, and devices that can write times of kernels themselves do (hardware trace).
 * LIGHT_CALLBACKS: the same, but CUPTI calls dwell when such a call begins and ends, in place of making a record of it.
 * Which of them is the cheapest on a machine says tools/measure/gpu_cost. dwell run --cuda=WHICH puts it into DWELL_CUDA.
 */
enum dwc_tier { DWC_FULL, DWC_LIGHT, DWC_LIGHT_CALLBACKS };
/* QUIET: kinds that are rare, whose every record counts, such as the device's memory. */
enum dwc_level { DWC_OFF, DWC_QUIET, DWC_ALL };
/* Reads the tier and sets what CUPTI wants to know before it enables a kind. Returns whether the tier has buffers made before. */
bool dwc_kinds_prepare(void);
/* Enables the kinds of records and the calls of this level, and disables the others. */
void dwc_kinds_switch(enum dwc_level level);
/* Whether calls of this class (those that submit work, that wait for it, ...) are recorded. */
bool dwc_kinds_has(enum dwc_call does);
/* There are no callbacks any more: records of calls take their place. */
void dwc_kinds_lose_callbacks(void);
/* CUPTI says by a callback that something is not as it should be, as that a device has no hardware trace after all. */
void dwc_kinds_take_state(const void *data);
/* What a trace says of the tier: ", light, hardware trace", or "". */
void dwc_kinds_text(char *to, size_t size);

/* ---- noted.c -------------------------------------------------------------------------------------------- */

/* A call of the tier LIGHT_CALLBACKS begins or ends in this thread. */
void dwc_noted_take(bool runtime, uint32_t function, const struct cupti_callback *call);
/* Callbacks begin to come, in the middle of calls. */
void dwc_noted_begin(void);
/* The next call that has ended, in the order of their ends. */
bool dwc_noted_fetch(struct cupti_call *to);
/* How many came too fast since the last time. */
uint64_t dwc_noted_lost(void);

/* ---- bursts.c ------------------------------------------------------------------------------------------- */

/* Whether devices are recorded now, to keep the bound on the cost. Called by one thread, at each of its looks. `now_ns`:
 * the monotonic clock; `launches`: how much work of devices has been recorded so far, as far as CUPTI has returned it. */
bool dwc_bursts_choose(uint64_t now_ns, uint64_t launches);
/* Whether there are bursts: recording everything would cost more than the bound. */
bool dwc_bursts_begun(void);

/* ---- redirect.c and handover.c ---------------------------------------------------------------------------- */

struct dwc_replacement { const char *name; void *real, *own; }; /* real: NULL if the library lacks it */
/* From now on everything in the process that is not dwell's calls `own` in place of `real`. */
void dwc_redirect(const struct dwc_replacement *all, size_t count);

/* Who has CUPTI while another tool calls it: dwell, or nobody and the other tool. NONE: the lock was not to be had. */
enum dwc_owner { DWC_OWNER_NONE, DWC_OWNER_DWELL, DWC_OWNER_OTHER };
/* enter() takes the probe's lock before a call of another tool; `hand_over`: dwell has left CUPTI afterwards. leave() ends
 * that, after the call. */
struct dwc_handover {
	enum dwc_owner (*enter)(bool hand_over);
	void (*leave)(enum dwc_owner owner);
};
/* Has these functions called whenever another tool begins to use CUPTI, in that tool's thread. */
void dwc_handover_watch(const struct dwc_handover *functions);

/* ---- graphs.c ------------------------------------------------------------------------------------------- */

/* A node of a graph was made in this thread, while a stream was captured since `begin_ns`. */
struct dwc_node { uint64_t node, begin_ns, made_ns; uint32_t tid; };
dwc_callback dwc_graphs_take;
/* Takes nodes that were made since the last time, each once. `lost`: how many were made too fast. */
unsigned dwc_graphs_fetch(struct dwc_node *to, unsigned most, uint64_t *lost);

/* ---- buffers.c ------------------------------------------------------------------------------------------ */

#define DWC_BUFFER_BYTES ((size_t)1 << 20)
#define DWC_MOST_BUFFERS 64u /* at once: 64 MiB */

extern const struct dwc_buffer_functions dwc_buffer_functions;
/* Maps some buffers before CUPTI asks, in memory that is there. From now on buffers are cleared before they are given again. */
void dwc_buffers_prepare(void);
/* How many buffers CUPTI returned so far, and how often it asked for one when all were in use. */
uint64_t dwc_buffers_returned(void), dwc_buffers_refused(void);

/* ---- records.c ------------------------------------------------------------------------------------------ */

/* Records of a whole buffer. */
void dwc_records_take(uint8_t *buffer, size_t valid);
/* Pairs CUPTI's clock with the trace's. */
void dwc_records_pair_clocks(void);
/* Work of devices that the host submitted, as far as CUPTI has returned its records. A graph is one. */
uint64_t dwc_records_launches(void);
/* Counts what CUPTI has dropped, and writes what was lost. */
void dwc_records_count_lost(bool at_end);
/* Nothing is recorded from `start_ns` to `end_ns`, of CUPTI's clock. Both equal: from then on. */
void dwc_records_gap(uint64_t start_ns, uint64_t end_ns);

/* The UUID of the device with this number. False: CUPTI has not named it. */
#define DWC_MOST_DEVICES 64u
bool dwc_records_uuid(uint32_t number, uint8_t uuid[16]);

/* ---- energy.c --------------------------------------------------------------------------------------------- */

/* Stores what the devices have used so far, if the run asks for it. Called by one thread, about once a second. */
void dwc_energy_read(void);

/* ---- lost.c, under the lock of records.c ------------------------------------------------------------------ */

enum dwc_lost { DWC_LOST_BUFFERS, DWC_LOST_TIMES, DWC_LOST_THREADS, DWC_LOST_NODES, DWC_LOST_CALLS, DWC_LOST_COUNT };
void dwc_lost_add(enum dwc_lost cause, uint64_t records);
/* Writes the causes, if there are more since the last time. */
void dwc_lost_say(bool at_end);
/* Another session begins. */
void dwc_lost_reset(void);

/* ---- raw.c ---------------------------------------------------------------------------------------------- */

/* Appends the buffer to the file that DWELL_TEST_CUPTI_RAW names, if it names one. Under the lock of records.c. */
void dwc_raw_keep(uint8_t *buffer, size_t valid);

#define DWC_API __attribute__((__visibility__("default")))
