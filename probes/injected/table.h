/*
 * What libraries announce of themselves, through ITT or NVTX, and what it becomes in the trace.
 *
 *     ITT  -> itt.c  --+
 *                      +--> names.c, ranges.c, args.c: one table of what is announced --> probe.h
 *     NVTX -> nvtx.c --+
 *
 * Both interfaces have domains (a library, a module), texts in them, ranges that nest in a thread,
 * ranges that do not, marks, values and names of threads. The two faces translate the calls of their
 * interface; everything else is common to both. Callbacks come from any thread, from several copies of an
 * interface in one process, in signal handlers and after fork. None of these functions fails,
 * uses malloc() or changes errno. What cannot be recorded is counted (dwell_probe_lost()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dwell/probe.h>

#include "../thread_memory.h"

#define DWI_API __attribute__((visibility("default")))

/* Names are compared and recorded up to this length, in bytes. */
#define DWI_LONGEST 1000u

/* The use of a name. */
enum dwi_use {
	DWI_RANGE, DWI_MARK, DWI_COUNTER, DWI_FLOW,
	DWI_OPERATOR_RANGE, /* a range of a framework's operator, in a domain that has others too */
};

enum dwi_face { DWI_ITT, DWI_NVTX, DWI_FACES };

/* A domain lives as long as the process, and there is one for each name of an interface. */
struct dwi_domain {
	struct dwi_domain *next;
	uint64_t hash;
	const char *name;    /* "": the default domain of NVTX */
	uint32_t category;   /* enum dwell_category, of its ranges */
	uint32_t flags;      /* enum dwi_domain_flag */
	uint32_t face;       /* enum dwi_face */
	uint32_t noted;      /* atomic; 1: the trace says that the domain has records */
};

enum dwi_domain_flag {
	DWI_FRAMES_ARE_STEPS = 1, /* a frame of this domain is a step */
	DWI_FRAMEWORK = 2,        /* a framework's operators and what is inside them: left out where the
	                           * framework's own probe records the operators */
	DWI_NAMES_DECIDE = 4,     /* only names with "::" are operators; the others are the program's */
};

/* A text in a domain for one use. It lives as long as the process. */
struct dwi_name {
	struct dwi_name *next;
	uint64_t hash;
	struct dwi_domain *domain;
	const char *text;    /* as announced, for comparison; may not be UTF-8 */
	uint32_t length;     /* of it */
	uint8_t use;         /* enum dwi_use */
	bool framework;      /* left out where a framework's probe records operators */
	bool step;           /* --step-on names it: the range is a step */
	struct dwell_site site;
};

/* ---- domains and names ------------------------------------------------------------------------ */

/* NULL: there is no memory. */
struct dwi_domain *dwi_domain(enum dwi_face face, const char *name);
/* The text may be longer than DWI_LONGEST; it is copied. NULL: there is no memory. */
struct dwi_name *dwi_name(struct dwi_domain *domain, enum dwi_use use, const char *text);
/* The same for a text that is not NUL-terminated. */
struct dwi_name *dwi_name_of_length(struct dwi_domain *domain, enum dwi_use use, const char *text,
                                    size_t length);
/* The same for texts that a program passes with every call: a cache of the calling thread is asked
 * first. */
struct dwi_name *dwi_name_again(struct dwi_domain *domain, enum dwi_use use, const char *text);
/* The length of the UTF-8 sequence at `text`, of which `left` bytes remain, or 0 if there is none. */
size_t dwi_utf8_sequence(const unsigned char *text, size_t left);
/* Copies the text as UTF-8. What is not UTF-8 becomes U+FFFD, so the copy has at most three times the
 * length. Returns the length without the NUL that it adds. */
size_t dwi_copy_utf8(char *to, const char *text, size_t length);
/* Writes the wide text as UTF-8 into `text`, cut to DWI_LONGEST bytes. */
const char *dwi_narrow(const int32_t *wide, char text[DWI_LONGEST + 8]);
/* The NAME of `dwell run --step-on`, or "". */
const char *dwi_step_name(void);
/* Notes in the trace that this domain has records: `dwell run` prints it. */
void dwi_domain_note(struct dwi_domain *domain);
/* Memory that is never freed and is zero; NULL: there is none. */
void *dwi_memory(size_t bytes);

/* ---- ranges that nest in their thread ------------------------------------------------------------ */

#define DWI_DEEPEST 512u
#define DWI_CACHE 64u
#define DWI_ARGS_BYTES 1800u

struct dwi_open {
	struct dwi_name *name;
	uint64_t id;      /* that the program gave; 0: none */
	unsigned began;   /* what dwell_begin() returned; DWI_STEP: a step */
	uint32_t args;    /* bytes of `args` of the thread that belong to this range */
};

struct dwi_thread {
	struct dwp_thread_memory memory;
	uint32_t depth;      /* of `open` */
	uint32_t beyond;     /* ranges that are open beyond DWI_DEEPEST, and not recorded */
	uint32_t mixed;      /* below this depth others may have records: see ranges.c */
	uint32_t args_depth; /* the depth of the range that `args` belongs to */
	const char *cursor;  /* of the stream after the last record that was made here */
	struct dwi_open open[DWI_DEEPEST];
	struct { const char *text; struct dwi_name *name; } cache[DWI_CACHE];
	struct { uint64_t key; uint32_t text; } known_args[DWI_CACHE];
	char args[DWI_ARGS_BYTES + 8];
};

/* Begins a range in the calling thread. `id` is what the program calls it; 0: nothing. Returns its
 * depth, from 0, or -1 if it cannot be recorded. */
int dwi_begin(struct dwi_name *name, uint64_t id);
/* Ends the innermost open range of this domain in the calling thread. Ignored if there is none.
 * Returns the depth that it had, or -1. */
int dwi_end(const struct dwi_domain *domain);
/* The same for the innermost range of this name. */
void dwi_end_name(const struct dwi_name *name);

/* ---- everything else ------------------------------------------------------------------------------- */

/* Ranges that may overlap, and end in other threads. `key` finds the name at the end. */
void dwi_async_begin(struct dwi_name *name, uint64_t key);
void dwi_async_end(uint64_t key);
/* A frame of a domain: a step, or a range that may overlap others. */
void dwi_frame_begin(struct dwi_domain *domain, uint64_t key);
void dwi_frame_end(struct dwi_domain *domain, uint64_t key);
void dwi_mark(struct dwi_name *name);
void dwi_counter(struct dwi_name *name, double value);
void dwi_flow(struct dwi_name *name, uint64_t handle, bool out);
/* The calling thread's name. */
void dwi_thread_name(const char *name);
/* That of any thread, by its id in the kernel. Another thread gets it with its first range. */
void dwi_thread_name_of(uint32_t thread, const char *name);
/* Stops and continues the recording of what is announced, in this process. */
void dwi_pause(bool pause);

/* Whether a mark or a range of this name that need not nest is recorded now. */
bool dwi_wanted(const struct dwi_name *name);
/* The calling thread; NULL: there is no memory. */
struct dwi_thread *dwi_thread_here(void);

/* For args.c and the faces: the innermost open range of the calling thread if it is of this domain and, unless `id`
 * is 0, has this id; else NULL. */
struct dwi_open *dwi_innermost(const struct dwi_domain *domain, uint64_t id,
                               struct dwi_thread **thread);
/* Encloses a record that is made outside ranges.c in a range of the thread. */
void dwi_recorded(struct dwi_thread *thread, bool before);

/* ---- arguments of a range (args.c) ------------------------------------------------------------------ */

/* Adds an argument to the innermost open range of the thread if it is of this domain, and, unless `id`
 * is 0, has this id. `value` is JSON of `length` bytes. Otherwise, and if there is no space, the
 * argument is counted as lost. */
void dwi_argument(const struct dwi_domain *domain, uint64_t id, const char *key, const char *value,
                  size_t length);
/* The same; the value is a text of `length` bytes. */
void dwi_argument_text(const struct dwi_domain *domain, uint64_t id, const char *key,
                       const char *value, size_t length);
void dwi_argument_number(const struct dwi_domain *domain, uint64_t id, const char *key, double value);
/* All arguments of a range that has just begun, as a JSON object. `key` stands for its content: the first
 * function returns false if the calling thread does not know it, and the second is to be called. */
bool dwi_arguments_again(const struct dwi_domain *domain, uint64_t key);
void dwi_arguments(const struct dwi_domain *domain, uint64_t key, const char *json);
/* The same for the mark or range of this name that comes next in this thread and need not nest. */
bool dwi_next_arguments_again(struct dwi_name *name, uint64_t key);
void dwi_next_arguments(struct dwi_name *name, uint64_t key, const char *json);
/* Writes a number as JSON and returns its length. */
size_t dwi_json_number(double value, char *json, size_t size);
/* Writes `text` as a JSON string with its quotes, and returns its length. What does not fit into
 * `size` bytes is left out; `size` is at least 3. What is not UTF-8 becomes U+FFFD. */
size_t dwi_json_text(const char *text, size_t length, char *json, size_t size);

/* A number from the address of a domain and what the program calls a range; never 0. */
static inline uint64_t dwi_key(const void *domain, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hash = ((uint64_t)(uintptr_t)domain ^ a) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 29 ^ b) * 0xd6e8feb86659fd93u;
	hash = (hash ^ hash >> 32 ^ c) * 0xa0761d6478bd642fu;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}
