/*
 * A program that is not compiled with -finstrument-functions and loads libraries that are.
 *
 *     stress_function_host TRACE LIBRARY_A LIBRARY_B [threads N]
 *
 * Five times: calls the function of A 10 times, unloads A, loads B, calls its function 1,000 times.
 * With `threads`: N threads, one after the other, call A's function, and the program prints by how
 * many KiB its memory has grown during the last nine tenths of them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/dwell.h"
#include "dwell/probe.h"

static int (*function)(int value);

static void *load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	*(void **)&function = dlsym(handle, "plugin_function");
	return handle;
}

static void call_often(const char *path, int count)
{
	void *handle = load(path);

	for (int i = 0; i < count; i++)
		function(i);
	dlclose(handle);
}

/* Without the trace's pages, which are the file's. */
static long resident_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long value = -1;

	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, "RssAnon:", 8) == 0)
			value = atol(line + 8);
	if (file)
		fclose(file);
	return value;
}

static void *in_thread(void *unused)
{
	(void)unused;
	function(1);
	return NULL;
}

static void run_threads(const char *path, int count)
{
	long before = 0;

	load(path);
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (i == count / 10)
			before = resident_kb();
		if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
			exit(4);
		pthread_join(thread, NULL);
	}
	printf("%ld\n", resident_kb() - before);
}

int main(int count, char **arguments)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0 };

	if (count < 4)
		return 2;
	options.path = arguments[1];
	options.categories = DWELL_MASK_DEFAULT | 1u << DWELL_CATEGORY_FUNCTION;
	if (dwell_start(&options, &error) != 0) {
		fprintf(stderr, "%s\n", error.message);
		return 2;
	}
	if (count == 6 && strcmp(arguments[4], "threads") == 0) {
		run_threads(arguments[2], atoi(arguments[5]));
		return 0;
	}
	for (int i = 0; i < 5; i++) {
		call_often(arguments[2], 10);
		call_often(arguments[3], 1000);
	}
	return 0;
}
