/* Programs whose heap is known, for malloc_test.py. usage: malloc_program CASE [COUNT] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef STEPS
#include "dwell/probe.h"
#else
#define DWELL_STEP()
#endif

#define KIB ((size_t)1024)
static void *volatile kept;
static void **list;

static void *made(size_t bytes)
{
	void *block = malloc(bytes); /* made */

	memset(block, 1, bytes < 64 ? bytes : 64);
	return block;
}

/* A step frees what it makes, but for `leaked` blocks of 1 KiB. */
static void leak(unsigned steps, unsigned leaked)
{
	for (unsigned step = 0; step < steps; step++) {
		DWELL_STEP();
		for (unsigned i = 0; i < 2000; i++) {
			void *block = malloc(KIB); /* used */

			kept = block;
			free(block);
		}
		for (unsigned i = 0; i < leaked; i++)
			kept = malloc(KIB); /* leaked */
	}
}

static void *free_all(void *given)
{
	void **blocks = given;

	for (unsigned i = 0; i < 20000; i++)
		free(blocks[i]);
	free(blocks);
	return NULL;
}

/* 40 MiB of two sizes at the peak; another thread frees them. 10 MiB stay. */
static void threads(void)
{
	for (unsigned round = 0; round < 4; round++) {
		void **blocks = calloc(20000, sizeof *blocks);
		pthread_t thread;

		for (unsigned i = 0; i < 20000; i++)
			blocks[i] = made(2 * KIB);
		pthread_create(&thread, NULL, free_all, blocks);
		pthread_join(thread, NULL);
	}
	for (unsigned i = 0; i < 10; i++)
		kept = made(KIB * KIB);
}

static void *short_lived(void *given)
{
	void *block = malloc(3000); /* short */

	(void)given;
	kept = block;
	return block;
}

/* Each thread makes one small block, which another thread keeps. */
static void many(void)
{
	list = calloc(10000, sizeof *list);
	for (unsigned i = 0; i < 10000; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, short_lived, NULL) == 0)
			pthread_join(thread, &list[i]);
	}
}

/* Each function of malloc holds 8 MiB. */
static void kinds(void)
{
	void *aligned = NULL, *grown = NULL;

	for (unsigned i = 0; i < 512; i++) {
		kept = calloc(16, KIB); /* calloc */
		if (posix_memalign(&aligned, 64, 16 * KIB) == 0) /* posix_memalign */
			kept = aligned;
		kept = aligned_alloc(4096, 16 * KIB); /* aligned_alloc */
		kept = memalign(256, 16 * KIB); /* memalign */
		grown = malloc(8 * KIB);
		grown = realloc(grown, 16 * KIB); /* realloc */
		free(grown);
	}
	for (size_t bytes = KIB; bytes <= 8 * KIB * KIB; bytes *= 2)
		list = realloc(list, bytes); /* grown */
	kept = mmap(NULL, 8 * KIB * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* mmap */
	for (unsigned i = 0; i < 50; i++) {
		void *mapped = mmap(NULL, KIB * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* unmapped */

		munmap(mapped, KIB * KIB);
	}
}

/* The parent holds 20 MiB; each child makes 10 MiB more, and frees what it has of the parent. */
static void forks(void)
{
	void **blocks = calloc(2560, sizeof *blocks);

	for (unsigned i = 0; i < 2560; i++)
		blocks[i] = made(8 * KIB);
	for (unsigned child = 0; child < 3; child++)
		if (fork() == 0) {
			for (unsigned i = 0; i < 2560; i++)
				free(blocks[i]);
			for (unsigned i = 0; i < 1280; i++)
				kept = malloc(8 * KIB); /* child */
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	if (vfork() == 0)
		_exit(0);
}

/* Blocks of all sizes, whose contents are checked, in a thread. */
static void *stormy(void *given)
{
	unsigned char *blocks[64] = { NULL };
	size_t sizes[64] = { 0 };
	unsigned random = (unsigned)(uintptr_t)given;

	for (unsigned i = 0; i < 30000; i++) {
		unsigned at, size;

		random = random * 1103515245u + 12345u;
		at = random >> 16 & 63;
		size = 1 + (random >> 22) * (at == 0 ? 400 : 3);
		if (blocks[at] && (blocks[at][0] != at || blocks[at][sizes[at] - 1] != at))
			abort();
		if (random >> 12 & 1) {
			blocks[at] = realloc(blocks[at], size);
		} else {
			free(blocks[at]);
			blocks[at] = random >> 13 & 1 ? malloc(size) : calloc(1, size);
		}
		sizes[at] = size;
		blocks[at][0] = blocks[at][size - 1] = (unsigned char)at;
	}
	for (unsigned at = 0; at < 64; at++)
		free(blocks[at]);
	return NULL;
}

/* Threads with many blocks, half of them on the smallest stacks, while others fork, and load and unload a library. */
static void storm(void)
{
	pthread_t made_threads[4];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (uintptr_t i = 0; i < 4; i++)
		if (pthread_create(&made_threads[i], i % 2 ? &small : NULL, stormy, (void *)(i + 1)))
			abort();
	for (unsigned i = 0; i < 10; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
		pid_t child = fork();

		if (child == 0) {
			stormy((void *)(uintptr_t)(i + 9));
			_exit(0);
		}
		if (library)
			dlclose(library);
		if (dlsym(RTLD_DEFAULT, "no_such_function") || !dlerror())
			abort();
	}
	for (unsigned i = 0; i < 4; i++)
		pthread_join(made_threads[i], NULL);
	for (int status; wait(&status) > 0;)
		if (status)
			abort();
}

/* Pairs of malloc and free, nothing else. */
static void pairs(unsigned number)
{
	for (unsigned i = 0; i < number; i++) {
		kept = malloc(32);
		free(kept);
	}
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	unsigned number = count > 2 ? (unsigned)strtoul(words[2], NULL, 10) : 0;

	if (strcmp(what, "leak") == 0)
		leak(60, number);
	else if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "many") == 0)
		many();
	else if (strcmp(what, "kinds") == 0)
		kinds();
	else if (strcmp(what, "forks") == 0)
		forks();
	else if (strcmp(what, "storm") == 0)
		storm();
	else if (strcmp(what, "pairs") == 0)
		pairs(number);
	return 0;
}
