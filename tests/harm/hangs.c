/* Programs that hang under a profiler whose signal handler takes a lock of libc. tools/measure/harmless --hangs runs them
 * often. */
#define _GNU_SOURCE
#include "harm.h"
#include <dlfcn.h>
#include <link.h>

extern pthread_mutex_t harm_registry;

static volatile int inside;
static void *blocks[64];

/* Threads allocate and free each other's blocks, and the main thread loads libraries: locks of arenas and of the
 * loader. */
static void arena_main(long value UNUSED)
{
	static const char *const names[] = { "libz.so.1",   "libstdc++.so.6",  "libm.so.6",     "libcrypto.so.3",
		                                 "libssl.so.3", "libsqlite3.so.0", "libexpat.so.1", "libffi.so.8" };
	pthread_t threads[6];
	double end = harm_now() + .15;
	for (long i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, harm_exchange, (void *)(i + 1));
	while (harm_now() < end)
		for (size_t i = 0; i < COUNT_OF(names); i++) {
			void *library = dlopen(names[i], RTLD_NOW);
			if (library)
				dlclose(library);
		}
	harm_stop = 1;
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
}

static void spin(double seconds)
{
	for (double end = harm_now() + seconds; harm_now() < end;)
		;
}

static int iterate_each(struct dl_phdr_info *info UNUSED, size_t size UNUSED, void *value UNUSED)
{
	if (!inside) {
		inside = 1;
		spin(.3);
	}
	return 0;
}

static void *iterate_begin(void *value)
{
	dl_iterate_phdr(iterate_each, NULL);
	return value;
}

/* A thread computes in dl_iterate_phdr() while the main thread loads a library. */
static void iterate_main(long value UNUSED)
{
	pthread_t thread;
	pthread_create(&thread, NULL, iterate_begin, NULL);
	while (!inside)
		;
	dlopen("libz.so.1", RTLD_NOW);
	pthread_join(thread, NULL);
}

static void *registry_begin(void *value)
{
	pthread_mutex_lock(&harm_registry);
	inside = 1;
	spin(.3);
	pthread_mutex_unlock(&harm_registry);
	return value;
}

/* A thread computes with a lock of the program, which a library's constructor takes. */
static void constructor_main(long value UNUSED)
{
	pthread_t thread;
	pthread_create(&thread, NULL, registry_begin, NULL);
	while (!inside)
		usleep(1000);
	dlopen(harm_plugin("plugin_locks"), RTLD_NOW);
	pthread_join(thread, NULL);
}

static void *stdio_begin(void *value)
{
	flockfile(stdout);
	inside = 1;
	for (double end = harm_now() + .2; harm_now() < end;)
		for (int i = 0; i < 100; i++) {
			fputs("", stdout);
			free(blocks[i % 64]);
			blocks[i % 64] = malloc(1000 + (size_t)i * 50);
		}
	funlockfile(stdout);
	return value;
}

/* A thread computes and allocates with the lock of stdout, which a library's constructor takes, while others allocate.
 */
static void stdio_main(long value UNUSED)
{
	pthread_t threads[4];
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, harm_exchange, (void *)(i + 1));
	pthread_create(&threads[3], NULL, stdio_begin, NULL);
	while (!inside)
		usleep(1000);
	void *library = dlopen(harm_plugin("plugin_prints"), RTLD_NOW);
	pthread_join(threads[3], NULL);
	harm_stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (library)
		dlclose(library);
}

const struct harm_program harm_hangs[] = {
	{ "hangs", ".arena and loader", arena_main, 0 },
	{ "hangs", ".dl_iterate_phdr and loader", iterate_main, 0 },
	{ "hangs", ".lock of the program and loader", constructor_main, 0 },
	{ "hangs", ".arena, stdio and loader", stdio_main, 0 },
	{ NULL, NULL, NULL, 0 },
};
