/*
 * Collectives of c10d in a program of C++, and waits for other ranks.
 *
 * A program calls the methods of ProcessGroupGloo itself or through c10d::ProcessGroup and its operators; both end in the
 * same functions, which abi/entries.c watches. Their range has the group, the number of the collective in it, and its bytes,
 * and so has that of the wait for the Work that they return, as in Python (../collectives.c). The reducer of
 * DistributedDataParallel waits in a function of its own for the collectives that it has started. Collectives of NCCL and
 * MPI are recorded by their own probes.
 *
 * A group has no name in C++. Several groups on one store need a PrefixStore each, whose prefix all ranks share: that is the
 * name. Else the groups of a process are numbered in the order in which they are made.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../core.h"
#include "../groups.h"
#include "native.h"

#define STORES 64u

static struct {
	const void *store; /* NULL: free */
	char prefix[64];
} stores[STORES]; /* the last ones */
static unsigned store_count, unnamed;
static int world; /* the size of the largest group */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __thread unsigned open_collectives __attribute__((tls_model("initial-exec"))); /* some call others */

/* What the reducer has started in the backward that runs in this thread: collectives that follow each other. */
static __thread struct {
	uint64_t first;
	uint32_t group, count;
	bool starts; /* one now */
} reducer __attribute__((tls_model("initial-exec")));

static void collectives_put_store(const void *store, const char *prefix)
{
	unsigned at = 0;

	pthread_mutex_lock(&lock);
	while (at < STORES && stores[at].store != store)
		at++;
	if (at == STORES)
		at = store_count++ % STORES;
	stores[at].store = store;
	snprintf(stores[at].prefix, sizeof stores[at].prefix, "%s", prefix);
	pthread_mutex_unlock(&lock);
}

/* The group of all ranks says which rank this is; a launcher may have said it in the environment. */
static void collectives_put_group(const void *object, const void *store, int rank, int size)
{
	const char *local = getenv("LOCAL_RANK");
	char name[64] = "";

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < STORES && !*name; i++)
		if (stores[i].store == store)
			snprintf(name, sizeof name, "%s", stores[i].prefix);
	if (!*name)
		snprintf(name, sizeof name, "group %u", unnamed++);
	dwp_group_put(object, name, (unsigned)size, rank);
	if (size > world) {
		world = size;
		dwell_rank(rank, local && *local >= '0' && *local <= '9' ? atoi(local) : -1, size);
	}
	pthread_mutex_unlock(&lock);
}

static void collectives_begin(struct native_seen *seen)
{
	const struct native_collective *kind = seen->collective;
	struct torch_group *group = dwp_group_find(seen->self);
	struct torch_collective collective;

	seen->began = DWELL_NOT_BEGUN;
	seen->sequence = 0;
	if (open_collectives++)
		return;
	collective = kind->call == TORCH_COLLECTIVE        ? dwp_group_count(group)
	             : kind->call == TORCH_RECEIVED_OF_ANY ? dwp_group_count_message(group, kind->call, -1)
	                                                   : dwp_group_count_message(group, kind->call, seen->size);
	seen->outer = collective.group;
	seen->sequence = collective.sequence;
	if (reducer.starts) {
		reducer.first = reducer.count++ ? reducer.first : collective.sequence;
		reducer.group = collective.group;
	}
	seen->began = dwell_begin(seen->site);
	if (!seen->began)
		return;
	if (kind->depth >= 0)
		collective.bytes = dwp_abi_tensors_bytes(seen->argument, (unsigned)kind->depth) *
		                   (kind->times_size ? collective.size : 1);
	dwell_collective(collective.group, collective.sequence, collective.bytes);
}

static void collectives_begin_wait(struct native_seen *seen)
{
	static struct dwell_site site = { "Work.wait", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };
	struct torch_collective collective = dwp_group_take_work(seen->self);

	seen->began = dwell_begin(&site);
	if (seen->began && collective.sequence)
		dwell_collective(collective.group, collective.sequence, 0);
}

static void collectives_begin_reduced(struct native_seen *seen)
{
	static struct dwell_site site = { "DistributedDataParallel.finalize_backward", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };

	seen->began = dwell_begin(&site);
	for (uint32_t i = 0; seen->began && reducer.first && i < reducer.count; i++)
		dwell_collective(reducer.group, reducer.first + i, 0);
	reducer.count = 0;
}

void dwp_native_collectives_before(struct native_seen *seen)
{
	if (seen->call == NATIVE_COLLECTIVE)
		collectives_begin(seen);
	else if (seen->call == NATIVE_WORK_WAIT)
		collectives_begin_wait(seen);
	else if (seen->call == NATIVE_REDUCE)
		reducer.starts = true;
	else if (seen->call == NATIVE_REDUCED)
		collectives_begin_reduced(seen);
	else if (seen->call == NATIVE_STORE_MADE) /* a std::string begins with where its text is */
		collectives_put_store(seen->self, *(const char *const *)seen->argument);
}

void dwp_native_collectives_after(struct native_seen *seen)
{
	if (seen->call == NATIVE_GROUP_MADE && !seen->failed)
		collectives_put_group(seen->self, *(const void *const *)seen->argument, seen->rank, seen->size);
	if (seen->call == NATIVE_REDUCE)
		reducer.starts = false;
	if (seen->call != NATIVE_COLLECTIVE && seen->call != NATIVE_WORK_WAIT && seen->call != NATIVE_REDUCED)
		return;
	dwell_end(seen->began);
	if (seen->call != NATIVE_COLLECTIVE)
		return;
	open_collectives--;
	if (seen->sequence && !seen->failed && *seen->result)
		dwp_group_put_work(*seen->result, (struct torch_collective){ .group = seen->outer, .sequence = seen->sequence });
}
