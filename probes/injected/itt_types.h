/*
 * ITT as a collector sees it: the structures that the static part of ittnotify passes.
 *
 * Written from their layout in memory, which has been the same since 2013; members that were added
 * later are not used. Each library with ITT has its own copy of the static part. At its first call
 * a copy loads the library that INTEL_LIBITTNOTIFY64 names and passes its table of functions to
 * __itt_api_init().
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

struct itt_id {
	unsigned long long d1, d2, d3;
};

/* The static part allocates domains and handles; `extra` members are the collector's. */
struct itt_domain {
	int flags; /* 0: the library sends nothing in this domain */
	const char *name;
	const void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	const void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_function {
	const char *name;
	void **function;
	void *init, *null;
	int group;
};

struct itt_global {
	unsigned char magic[8];
	unsigned long version_major, version_minor, version_build;
	long api_initialized, mutex_initialized, atomic_counter;
	pthread_mutex_t mutex;
	void *library;
	void *error_handler;
	const char **path;
	struct itt_function *functions; /* until a name is NULL */
};

enum itt_type {
	ITT_UNKNOWN, ITT_U64, ITT_S64, ITT_U32, ITT_S32, ITT_U16, ITT_S16, ITT_FLOAT, ITT_DOUBLE
};

enum itt_relation {
	ITT_NO_RELATION,
	ITT_DEPENDS_ON,      /* the task cannot begin before the other has ended */
	ITT_SIBLING_OF,
	ITT_PARENT_OF,
	ITT_CONTINUATION_OF,
	ITT_CHILD_OF,
	ITT_CONTINUED_BY,
	ITT_PREDECESSOR_TO
};
