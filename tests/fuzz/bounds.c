/*
 * Memory and time of an execution; see bounds.h.
 *
 * Under AddressSanitizer the allocator reports allocations. Otherwise malloc() and similar
 * functions are defined here: they count, and call those of the C library. The size of a block is what
 * malloc_usable_size() returns, so that no size need be stored.
 */
#include "bounds.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define WITH_ASAN 1
#define SLOWER BOUNDS_SANITIZED
#else
#define SLOWER 1u
#endif

bool bounds_ask_all;

static size_t held, most_held; /* atomic */
static uint64_t began_ns;
static size_t began_held;
static struct { uint64_t ns; size_t size, bytes; } slowest, largest;

static void took(void *block, size_t bytes)
{
	size_t now, most = __atomic_load_n(&most_held, __ATOMIC_RELAXED);

	if (!block)
		return;
	now = __atomic_add_fetch(&held, bytes, __ATOMIC_RELAXED);
	while (now > most && !__atomic_compare_exchange_n(&most_held, &most, now, true,
	                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void gave(size_t bytes)
{
	__atomic_sub_fetch(&held, bytes, __ATOMIC_RELAXED);
}

#ifdef WITH_ASAN
size_t __sanitizer_get_allocated_size(const volatile void *block);
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *block, size_t bytes)
{
	took((void *)(uintptr_t)block, bytes);
}

static void on_free(const volatile void *block)
{
	if (block)
		gave(__sanitizer_get_allocated_size(block));
}

__attribute__((constructor)) static void install(void)
{
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}
#else
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

void *malloc(size_t bytes)
{
	void *block = __libc_malloc(bytes);

	took(block, malloc_usable_size(block));
	return block;
}

void *calloc(size_t count, size_t bytes)
{
	void *block = __libc_calloc(count, bytes);

	took(block, malloc_usable_size(block));
	return block;
}

void *realloc(void *block, size_t bytes)
{
	size_t before = malloc_usable_size(block);
	void *grown = __libc_realloc(block, bytes);

	if (grown || !bytes)
		gave(before);
	took(grown, malloc_usable_size(grown));
	return grown;
}

void free(void *block)
{
	int saved = errno;

	gave(malloc_usable_size(block));
	__libc_free(block);
	errno = saved;
}
#endif

/* One core: the reader takes no threads then, which cost more than most inputs. */
__attribute__((constructor)) static void stay_on_one_core(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return;
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &set) && (core >= getpid() % CPU_COUNT(&set))) {
			CPU_ZERO(&set);
			CPU_SET(core, &set);
			sched_setaffinity(0, sizeof set, &set);
			return;
		}
}

/* tools/measure/fuzz puts this in place of dw_limits_cpus(), which reads files of the container's limits for every product. */
unsigned __wrap_dw_limits_cpus(void);

unsigned __wrap_dw_limits_cpus(void)
{
	return 1;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool bounds_asks(const uint8_t *data, size_t size, unsigned which, unsigned count)
{
	unsigned sum = (unsigned)size;

	for (size_t i = 0; i < size && i < 64; i++)
		sum = sum * 31 + data[size - 1 - i];
	return bounds_ask_all || (sum ^ sum >> 7) % count == which;
}

void bounds_begin(void)
{
	static bool registered;

	if (!registered)
		atexit(bounds_print);
	registered = true;
	began_held = __atomic_load_n(&held, __ATOMIC_RELAXED);
	__atomic_store_n(&most_held, began_held, __ATOMIC_RELAXED);
	began_ns = cpu_ns();
}

static void keep(const uint8_t *data, size_t size)
{
	const char *path = getenv("FUZZ_SLOWEST");
	FILE *file = path && *path ? fopen(path, "wb") : NULL;

	if (file) {
		fwrite(data, 1, size, file);
		fclose(file);
	}
}

void bounds_end(const uint8_t *data, size_t size, size_t input_bytes)
{
	uint64_t ns = cpu_ns() - began_ns;
	size_t bytes = __atomic_load_n(&most_held, __ATOMIC_RELAXED) - began_held;
	size_t most_bytes = BOUNDS_SPARE_BYTES + BOUNDS_BYTES_A_BYTE * input_bytes;
	uint64_t most_ns = (BOUNDS_SPARE_NS + (uint64_t)BOUNDS_NS_A_BYTE * input_bytes) * SLOWER;

	if (ns > slowest.ns + slowest.ns / 8) {
		if (ns > 10000000)
			keep(data, size);
		slowest.ns = ns;
		slowest.size = size;
		slowest.bytes = input_bytes;
	}
	if (bytes > largest.ns) {
		largest.ns = bytes;
		largest.size = size;
		largest.bytes = input_bytes;
	}
	if (bytes <= most_bytes && ns <= most_ns)
		return;
	fprintf(stderr, "bounds: an input of %zu bytes (%zu of a file) took %zu bytes of memory, at most "
	                "%zu are right, and %.3f s, at most %.3f\n", size, input_bytes, bytes, most_bytes,
	        (double)ns * 1e-9, (double)most_ns * 1e-9);
	abort();
}

void bounds_print(void)
{
	fprintf(stderr, "slowest: %.3f ms of CPU for %zu bytes (%zu of a file)\n", (double)slowest.ns * 1e-6,
	        slowest.size, slowest.bytes);
	fprintf(stderr, "most memory: %.1f MB for %zu bytes (%zu of a file)\n", (double)largest.ns * 1e-6,
	        largest.size, largest.bytes);
}
