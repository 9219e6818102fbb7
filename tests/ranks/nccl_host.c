/*
 * Calls a plugin of NCCL's profiler interface as NCCL does, without NCCL: one process a rank, one step with
 * two collectives that are enqueued together, whose channels end in another thread and in another order.
 *
 * usage: nccl_host PLUGIN VERSION STEPS MS
 *
 * The channels of the collectives end MS milliseconds after they were enqueued, if the plugin asks for them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dwell/probe.h>

#include "../../probes/nccl/interface.h"

#define CHANNELS 2

static struct {
	int version;
	void *context;
	nccl_start_event *start;
	nccl_stop_event *stop;
	nccl_record_state *record;
	nccl_finalize *finalize;
	int mask;
	double ms;
} host;

static void set_type(struct nccl_event *event, uint64_t type)
{
	event->type.word = 0xabababababababab; /* version 4 sets one byte */
	if (host.version == 4)
		event->type.byte = (uint8_t)type;
	else
		event->type.word = type;
}

static void *enqueue(const char *function, size_t count, const char *type)
{
	struct nccl_event event = { .u.collective = { .function = function, .count = count, .type = type,
		                                          .channels = CHANNELS } };
	void *handle;

	set_type(&event, NCCL_COLLECTIVE);
	host.start(host.context, &handle, &event);
	return handle;
}

/* The proxy thread: the channels of the first collective end after those of the second. */
static void *finish(void *collectives)
{
	void **parents = collectives, *channels[2][CHANNELS];
	struct timespec time = { 0, (long)(host.ms * 1e6) };

	if (!(host.mask & NCCL_KERNEL_CHANNEL))
		return NULL;
	for (int c = 0; c < 2; c++)
		for (int i = 0; i < CHANNELS; i++) {
			struct nccl_event event = { .parent = parents[c] };

			set_type(&event, NCCL_KERNEL_CHANNEL);
			host.start(host.context, &channels[c][i], &event);
		}
	nanosleep(&time, NULL);
	for (int c = 2; c-- > 0;)
		for (int i = 0; i < CHANNELS; i++)
			host.stop(channels[c][i]);
	return NULL;
}

static void run_step(void)
{
	void *collectives[2];
	pthread_t proxy;

	DWELL_STEP();
	{
		DWELL_ZONE("work");
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	collectives[0] = enqueue("AllReduce", 1000, "ncclFloat32");
	collectives[1] = enqueue("AllGather", 500, "ncclBfloat16");
	host.record(collectives[0], 1, NULL);
	host.stop(collectives[0]);
	host.stop(collectives[1]);
	pthread_create(&proxy, NULL, finish, collectives);
	pthread_join(proxy, NULL);
}

static int load(const char *plugin)
{
	char name[32];
	void *library = dlopen(plugin, RTLD_NOW), *symbol;
	int mask = 0;

	snprintf(name, sizeof name, "ncclProfiler_v%d", host.version);
	symbol = library ? dlsym(library, name) : NULL;
	if (!symbol) {
		fprintf(stderr, "no %s: %s\n", name, dlerror());
		return 1;
	}
	if (host.version == 4) {
		const struct nccl_profiler_v4 *profiler = symbol;

		profiler->init(&host.context, &mask, "world", 0x1234, 1, 2, 0, NULL);
		host.start = profiler->start, host.stop = profiler->stop, host.finalize = profiler->finalize, host.record = profiler->record;
	} else {
		const struct nccl_profiler_v5 *profiler = symbol;

		profiler->init(&host.context, 0x1234, &mask, "world", 1, 2, 0, NULL);
		host.start = profiler->start, host.stop = profiler->stop, host.finalize = profiler->finalize, host.record = profiler->record;
	}
	host.mask = mask;
	return mask != (NCCL_COLLECTIVE | NCCL_POINT | (getenv("DWELL_NCCL_CHANNELS") || getenv("DWELL_NCCL_NEXT") ? NCCL_KERNEL_CHANNEL : 0));
}

int main(int count, char **arguments)
{
	if (count < 5)
		return 2;
	host.version = atoi(arguments[2]);
	host.ms = atof(arguments[4]);
	if (load(arguments[1]))
		return 1;
	for (int i = 0; i < atoi(arguments[3]); i++)
		run_step();
	return host.finalize(host.context);
}
