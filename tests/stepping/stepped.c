/*
 * A program whose calls are stepped by tick_steps: malloc, dlopen and others that hold locks of libc.
 *
 *   stepped REGION          prints a checksum of what its calls returned
 *   stepped REGION traced   marks where the region begins and ends, for the tracer, by traps
 *   stepped REGION warm     and has waited before, so that dwell knows this process already
 *
 * A second thread computes, so that locks are real ones, and so that there is somebody whom the sampler interrupts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"

#define ROUNDS 2

static bool traced;
static const char *plugin;
static uint64_t sum;

static inline void stepped_mark(void)
{
	if (traced)
		__asm__ volatile("int3");
}

static void stepped_add(uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
}

/* Is called while a lock is held: of the loader's list of libraries, of a stream. Each of these regions has it once. */
static __attribute__((noinline)) void stepped_here(void)
{
	__asm__ volatile("" : : : "memory");
}

/* ---- regions --------------------------------------------------------------------------------- */

static void region_malloc(void)
{
	static const size_t sizes[] = { 24, 1000, 5000, 70000, 300000 };
	char *blocks[5];

	for (int i = 0; i < 5; i++) {
		blocks[i] = malloc(sizes[i]);
		memset(blocks[i], i, 16);
	}
	for (int i = 0; i < 5; i++) {
		stepped_add((uint64_t)blocks[i][15]);
		free(blocks[i]);
	}
}

static void region_calloc(void)
{
	char *block = calloc(3, 40), *larger = calloc(100, 20);

	stepped_add((uint64_t)block[100] + (uint64_t)larger[1000]);
	free(block);
	free(larger);
}

static void region_realloc(void)
{
	char *block = malloc(24);

	memcpy(block, "abcdefgh", 9);
	block = realloc(block, 3000);
	block = realloc(block, 200000);
	block = realloc(block, 40);
	stepped_add((uint64_t)block[7]);
	free(block);
}

static void region_dlopen(void)
{
	void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	int (*function)(int);

	*(void **)&function = library ? dlsym(library, "stepped_plugin") : NULL;
	stepped_add(function ? (uint64_t)function(6) : 0);
	stepped_add(library ? (uint64_t)dlclose(library) : 99);
	stepped_add(dlopen("/nowhere/at.all", RTLD_NOW) == NULL);
	stepped_add(dlerror() != NULL);
}

static void region_fopen(void)
{
	char line[64] = "";
	FILE *file = fopen("/proc/self/comm", "r");

	if (file && fgets(line, sizeof line, file))
		stepped_add(strlen(line));
	if (file)
		stepped_add((uint64_t)fclose(file));
	file = fopen("/dev/null", "w");
	if (file && fprintf(file, "%d %s\n", 42, line) > 0)
		stepped_add((uint64_t)fclose(file));
}

static void *region_thread(void *value)
{
	return (void *)((uintptr_t)value * 3);
}

static void region_create(void)
{
	pthread_t thread;
	void *value = NULL;

	stepped_add((uint64_t)pthread_create(&thread, NULL, region_thread, (void *)5));
	pthread_join(thread, &value);
	stepped_add((uintptr_t)value);
}

static int region_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	stepped_here();
	*(bool *)data |= info->dlpi_phnum == 0;
	return 0;
}

static void region_iterate(void)
{
	bool empty = false;

	dl_iterate_phdr(region_visit, &empty);
	stepped_add(empty);
}

static void region_stdio(void)
{
	char text[64];

	flockfile(stdout);
	stepped_here();
	stepped_add((uint64_t)snprintf(text, sizeof text, "%d %.3f", 7, 1.5));
	stepped_add((uint64_t)strlen(text));
	funlockfile(stdout);
}

static const struct region {
	const char *name;
	void (*run)(void);
} regions[] = {
	{ "malloc", region_malloc },   { "calloc", region_calloc },
	{ "realloc", region_realloc }, { "dlopen", region_dlopen },
	{ "fopen", region_fopen },     { "create", region_create },
	{ "thread", region_create },   { "iterate", region_iterate },
	{ "stdio", region_stdio },     { NULL, NULL },
};

/* ---- the program -------------------------------------------------------------------------------- */

static volatile int stop;

static void *stepped_compute(void *unused)
{
	while (!stop)
		for (volatile int i = 0; i < 1000; i++)
			;
	return unused;
}

/* Until the sampler's first signals have come. */
static void stepped_burn(void)
{
	struct timespec now, begin;

	kernel(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&begin, 0, 0, 0, 0);
	do
		kernel(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0, 0, 0);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 4000000);
}

int main(int argc, char **argv)
{
	const struct region *region = regions;
	static char path[4096];
	char *slash = strrchr(argv[0], '/');
	pthread_t thread;

	while (argc > 1 && region->name && strcmp(region->name, argv[1]) != 0)
		region++;
	if (argc < 2 || !region->name)
		return 2;
	traced = argc > 2;
	snprintf(path, sizeof path, "%.*s/stepped_plugin.so", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
	plugin = path;
	pthread_create(&thread, NULL, stepped_compute, NULL);
	stepped_burn();
	if (argc > 2 && !strcmp(argv[2], "warm"))
		usleep(5000);
	stepped_mark();
	for (int i = 0; i < ROUNDS; i++) {
		errno = 42;
		region->run();
		stepped_add(region->run == region_malloc ? (uint64_t)errno : 0);
	}
	stepped_mark();
	stop = 1;
	pthread_join(thread, NULL);
	printf("%s %016llx\n", region->name, (unsigned long long)sum);
	return 0;
}
