/*
 * The heap by samples: `dwell run --memory=malloc` loads this library in place of the sampler, which is a part of it. Its
 * functions are in front of those of libc, or of another library with a malloc.
 *
 * A thread counts the bytes that it asks for, and records a block when it passes a point. The points are at distances of
 * DWELL_HEAP bytes in the mean, at random (exponential, as those of jemalloc and tcmalloc). So a block of s bytes is recorded
 * with the probability 1 - exp(-s / mean), and stands for the inverse of it: sums are without bias. Between two points a call
 * costs a subtraction in the thread's own memory, and a free looks at one byte (blocks.c). A recorded block costs its call
 * stack and a record.
 *
 * Mappings that a program makes by itself (mmap) are blocks, too: Python's allocator of small objects makes them. Not seen
 * are programs with a malloc in their own file, static programs, blocks from before the recorder began, and the blocks that
 * a child of fork has of its parent.
 *
 * The functions may be called before anything else of this library, and by dlsym() while it looks for the functions behind
 * them: such calls get memory of a small array. Until all are found there is one thread.
 */
#undef _FILE_OFFSET_BITS /* with it, mmap() and mmap64() have one name */
#include "blocks.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/system.h"
#include "format/keys.h"
#include "sampler.h"
#include "wrapped.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT
#define THREAD_LOCAL static __thread __attribute__((__tls_model__("initial-exec")))
#define CALLER __builtin_return_address(0)
#define EARLY_BYTES 4096u
#define LEAST_PERIOD 1024u
#define MOST_PERIOD (8u << 20)
#define NEVER (UINT64_MAX >> 1)

THREAD_LOCAL struct {
	uint64_t left;   /* bytes to the next point */
	uint64_t random; /* 0: not seeded yet */
} mine;

static uint32_t missed; /* atomic; blocks that could not be recorded */
static uint64_t period; /* mean bytes between points; 0: nothing is recorded */
static int noted;       /* atomic; the trace has the period */
static struct dws_stack next_module; /* the library of the malloc behind this one, if it is not libc */
static struct dwell_site site = { "malloc", "cpu (malloc)", NULL, 0, DWELL_CATEGORY_ALLOCATION, 0 };

/* ---- points ------------------------------------------------------------------------------------ */

static uint64_t malloc_random(void)
{
	mine.random ^= mine.random >> 12;
	mine.random ^= mine.random << 25;
	mine.random ^= mine.random >> 27;
	return mine.random * 0x2545f4914f6cdd1du;
}

/* -ln(x), of 0 < x <= 1; libm is not a library of every program. Wrong by 1e-5 at most. */
static double malloc_minus_ln(double x)
{
	union {
		double value;
		uint64_t bits;
	} part = { x };
	int exponent = (int)(part.bits >> 52) - 1023;
	double z, squared;

	part.bits = (part.bits & 0x000fffffffffffffu) | 0x3ff0000000000000u; /* from 1 to 2 */
	z = (part.value - 1) / (part.value + 1);
	squared = z * z;
	return -0.69314718055994531 * exponent -
	       2 * z * (1 + squared * (1.0 / 3 + squared * (1.0 / 5 + squared * (1.0 / 7 + squared / 9))));
}

static uint64_t malloc_distance(void)
{
	double part = (double)((malloc_random() >> 11) + 1) * 0x1p-53;

	return period ? (uint64_t)(malloc_minus_ln(part) * (double)period) + 1 : NEVER;
}

/* ---- records ----------------------------------------------------------------------------------- */

static bool malloc_records(void)
{
	const struct dwell_gate_word *gate = __atomic_load_n(dws_recorder->gate, __ATOMIC_RELAXED);

	/* A child of vfork() has this memory, too. */
	return gate && !dws_process.in_sandbox && __atomic_load_n(&gate->mask, __ATOMIC_RELAXED) & 1u << DWELL_CATEGORY_ALLOCATION &&
	       dws_process.pid == (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static void malloc_note(void)
{
	char text[24];
	size_t at = sizeof text - 1;

	if (__atomic_exchange_n(&noted, 1, __ATOMIC_RELAXED))
		return;
	text[at] = '\0';
	for (uint64_t left = period; left; left /= 10)
		text[--at] = (char)('0' + left % 10);
	dws_recorder->meta_json(DW_KEY_HEAP_PERIOD, text + at);
}

struct block {
	const void *address, *caller;
	uint64_t bytes;
	struct dws_here here;
	bool done;
};

/* On a stack of the sampler. */
static void malloc_record(void *given)
{
	static int full; /* atomic */
	struct block *block = given;

	block->done = true;
	if (!malloc_records())
		return;
	malloc_note();
	if (dwm_blocks_add(block->address))
		dws_recorder->heap(&site, block->address, block->bytes, dws_stack_from(&block->here, dws_own_stack(), block->caller));
	else if (!__atomic_exchange_n(&full, 1, __ATOMIC_RELAXED))
		dws_recorder->meta(DW_KEY_HEAP_LACKS,
		                   "more than 100,000 recorded blocks were live at the same time: later ones are missing; "
		                   "give --memory=malloc:SIZE a larger SIZE");
}

static void malloc_seed(void)
{
	mine.random = ((uint64_t)(uintptr_t)&mine ^ dws_now_ns() << 20 ^ dws_now_ns()) | 1u;
	for (int i = 0; i < 8; i++)
		malloc_random();
}

/* A point lies in the block, or the thread is new. The distance to the next point counts from the end of the block. */
__attribute__((noinline)) static void malloc_reached(const void *address, uint64_t bytes, const void *caller)
{
	int saved = errno;

	if (!mine.random) {
		malloc_seed();
		mine.left = malloc_distance();
		if (bytes < mine.left) {
			mine.left -= bytes;
			return;
		}
	}
	mine.left = malloc_distance();
	if (address && period) {
		struct block block = { .address = address, .caller = caller, .bytes = bytes };

		DWS_HERE(&block.here);
		dws_apart(malloc_record, &block);
		if (!block.done)
			__atomic_fetch_add(&missed, 1, __ATOMIC_RELAXED);
	}
	errno = saved;
}

/* On a stack of the sampler. */
static void malloc_record_failed(void *given)
{
	if (malloc_records()) {
		malloc_note();
		dws_recorder->heap(&site, NULL, *(uint64_t *)given, 0);
	}
}

/* Not a call that asks for what there is not, as an alignment that is no power of 2. */
__attribute__((noinline, cold)) static void malloc_failed(uint64_t bytes, int code)
{
	int saved = errno;

	if (period && bytes && code == ENOMEM)
		dws_apart(malloc_record_failed, &bytes);
	errno = saved;
}

/* A block that was to grow stays as it was. */
__attribute__((noinline, cold)) static void malloc_failed_again(const void *old, uint64_t had, uint64_t bytes, const void *caller)
{
	if (old)
		malloc_reached(old, had, caller);
	malloc_failed(bytes, errno);
}

static inline void malloc_count(const void *address, uint64_t bytes, const void *caller)
{
	if (DWELL_UNLIKELY(!address))
		malloc_failed(bytes, errno);
	else if (DWELL_UNLIKELY(bytes >= mine.left))
		malloc_reached(address, bytes, caller);
	else
		mine.left -= bytes;
}

static void malloc_record_free(void *given)
{
	if (malloc_records())
		dws_recorder->heap(&site, given, 0, 0);
}

/* Before the memory is returned: as soon as it is, it may be another thread's block. */
__attribute__((noinline)) static bool malloc_removed(const void *address)
{
	bool was = dwm_blocks_remove(address);

	if (was)
		dws_apart(malloc_record_free, (void *)(uintptr_t)address);
	return was;
}

/* ---- the functions behind these ------------------------------------------------------------------- */

static void *malloc_first(size_t bytes);
static void malloc_first_free(void *address);
static void *malloc_first_calloc(size_t count, size_t bytes);
static void *malloc_first_realloc(void *old, size_t bytes);
static int malloc_first_posix_memalign(void **address, size_t alignment, size_t bytes);
static void *malloc_first_aligned_alloc(size_t alignment, size_t bytes);
static void *malloc_first_memalign(size_t alignment, size_t bytes);
static void *malloc_first_valloc(size_t bytes);
static void *malloc_first_pvalloc(size_t bytes);

static struct {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} next = { malloc_first, malloc_first_free, malloc_first_calloc, malloc_first_realloc, malloc_first_posix_memalign,
	       malloc_first_aligned_alloc, malloc_first_memalign, malloc_first_valloc, malloc_first_pvalloc };

static _Alignas(16) char early[EARLY_BYTES]; /* never returned */
static size_t early_used;
static bool finding;

static void *malloc_early(size_t bytes)
{
	size_t at = early_used;

	if (bytes > EARLY_BYTES || at + bytes > EARLY_BYTES - 15)
		return NULL;
	early_used = (at + bytes + 15) & ~(size_t)15;
	dwm_blocks_add(early + at); /* and never removed, so that free() looks at it */
	return early + at;
}

static bool malloc_is_early(const void *address)
{
	return (uintptr_t)address - (uintptr_t)early < sizeof early;
}

/* Whether the call is one of those that this makes. A function that no library has stays NULL, as no program calls it. */
static bool malloc_is_finding(void)
{
	if (finding)
		return true;
	finding = true;
	*(void **)&next.calloc = dws_next("calloc");
	*(void **)&next.realloc = dws_next("realloc");
	*(void **)&next.posix_memalign = dws_next("posix_memalign");
	*(void **)&next.aligned_alloc = dws_next("aligned_alloc");
	*(void **)&next.memalign = dws_next("memalign");
	*(void **)&next.valloc = dws_next("valloc");
	*(void **)&next.pvalloc = dws_next("pvalloc");
	*(void **)&next.malloc = dws_next("malloc");
	*(void **)&next.free = dws_next("free");
	finding = false;
	return false;
}

static void *malloc_first(size_t bytes)
{
	return malloc_is_finding() ? malloc_early(bytes) : next.malloc(bytes);
}

static void malloc_first_free(void *address)
{
	if (!malloc_is_early(address) && !malloc_is_finding())
		next.free(address);
}

static void *malloc_first_calloc(size_t count, size_t bytes)
{
	return malloc_is_finding() ? malloc_early(count * bytes) : next.calloc(count, bytes);
}

static void *malloc_first_realloc(void *old, size_t bytes)
{
	return malloc_is_finding() ? NULL : next.realloc(old, bytes);
}

static int malloc_first_posix_memalign(void **address, size_t alignment, size_t bytes)
{
	return malloc_is_finding() ? ENOMEM : next.posix_memalign(address, alignment, bytes);
}

static void *malloc_first_aligned_alloc(size_t alignment, size_t bytes)
{
	return malloc_is_finding() ? NULL : next.aligned_alloc(alignment, bytes);
}

static void *malloc_first_memalign(size_t alignment, size_t bytes)
{
	return malloc_is_finding() ? NULL : next.memalign(alignment, bytes);
}

static void *malloc_first_valloc(size_t bytes)
{
	return malloc_is_finding() ? NULL : next.valloc(bytes);
}

static void *malloc_first_pvalloc(size_t bytes)
{
	return malloc_is_finding() ? NULL : next.pvalloc(bytes);
}

/* ---- the functions of malloc ------------------------------------------------------------------------- */

PUBLIC void *malloc(size_t bytes)
{
	void *address = next.malloc(bytes);

	malloc_count(address, bytes, CALLER);
	return address;
}

PUBLIC void free(void *address)
{
	if (DWELL_UNLIKELY(dwm_blocks_may_have(address))) {
		if (malloc_is_early(address))
			return;
		malloc_removed(address);
	}
	next.free(address);
}

PUBLIC void *calloc(size_t count, size_t bytes)
{
	void *address = next.calloc(count, bytes);
	size_t all;

	if (DWELL_UNLIKELY(__builtin_mul_overflow(count, bytes, &all)))
		all = SIZE_MAX;
	malloc_count(address, all, CALLER);
	return address;
}

PUBLIC void *realloc(void *old, size_t bytes)
{
	size_t had = 0;
	bool was = false;
	void *address;

	if (DWELL_UNLIKELY(dwm_blocks_may_have(old))) {
		if (malloc_is_early(old)) {
			had = sizeof early - (size_t)((char *)old - early); /* at most */
			address = next.malloc(bytes);
			return address ? memcpy(address, old, bytes < had ? bytes : had) : NULL;
		}
		was = malloc_removed(old);
		had = malloc_usable_size(old);
	}
	address = next.realloc(old, bytes);
	if (DWELL_LIKELY(address != NULL))
		malloc_count(address, bytes, CALLER);
	else if (bytes) /* the old block stays */
		malloc_failed_again(was ? old : NULL, had, bytes, CALLER);
	return address;
}

PUBLIC int posix_memalign(void **address, size_t alignment, size_t bytes)
{
	int code = next.posix_memalign(address, alignment, bytes);

	if (DWELL_LIKELY(!code))
		malloc_count(*address, bytes, CALLER);
	else
		malloc_failed(bytes, code);
	return code;
}

PUBLIC void *aligned_alloc(size_t alignment, size_t bytes)
{
	void *address = next.aligned_alloc(alignment, bytes);

	malloc_count(address, bytes, CALLER);
	return address;
}

PUBLIC void *memalign(size_t alignment, size_t bytes)
{
	void *address = next.memalign(alignment, bytes);

	malloc_count(address, bytes, CALLER);
	return address;
}

PUBLIC void *valloc(size_t bytes)
{
	void *address = next.valloc(bytes);

	malloc_count(address, bytes, CALLER);
	return address;
}

PUBLIC void *pvalloc(size_t bytes)
{
	void *address = next.pvalloc(bytes);

	malloc_count(address, bytes, CALLER);
	return address;
}

/* ---- mappings ---------------------------------------------------------------------------------- */

/* Not those that reserve addresses, and not those of an allocator whose blocks are recorded. */
static void *malloc_map(void *at, size_t bytes, int protection, int flags, int file, off_t offset, const void *caller)
{
	void *address = (void *)dw_system_errno(dw_system(SYS_mmap, (long)(uintptr_t)at, (long)bytes, protection, flags, file, offset));

	if (address != MAP_FAILED && (flags & (MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | MAP_STACK)) == MAP_ANONYMOUS &&
	    protection & PROT_WRITE && ((uintptr_t)caller < next_module.low || (uintptr_t)caller >= next_module.high) &&
	    !dws_is_recorder(caller))
		malloc_count(address, bytes, caller);
	return address;
}

PUBLIC void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
	return malloc_map(at, bytes, protection, flags, file, offset, CALLER);
}

PUBLIC void *mmap64(void *at, size_t bytes, int protection, int flags, int file, off64_t offset)
{
	return malloc_map(at, bytes, protection, flags, file, offset, CALLER);
}

/* A mapping that loses only its end still counts as allocated. */
PUBLIC int munmap(void *address, size_t bytes)
{
	if (DWELL_UNLIKELY(dwm_blocks_may_have(address)))
		malloc_removed(address);
	return (int)dw_system_errno(dw_system(SYS_munmap, (long)(uintptr_t)address, (long)bytes, 0, 0, 0, 0));
}

/* What was recorded of a mapping that moves or changes its size goes with it, as a new one. */
PUBLIC void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	bool was = DWELL_UNLIKELY(dwm_blocks_may_have(old)) && malloc_removed(old);
	void *wanted = NULL, *address;
	va_list list;

	va_start(list, flags);
	if (flags & MREMAP_FIXED)
		wanted = va_arg(list, void *);
	va_end(list);
	address = (void *)dw_system_errno(dw_call(SYS_mremap, old, old_bytes, bytes, flags, wanted));
	if (was)
		malloc_reached(address == MAP_FAILED ? old : address, address == MAP_FAILED ? old_bytes : bytes, CALLER);
	return address;
}

/* ---- the start ---------------------------------------------------------------------------------- */

static void malloc_in_child(void)
{
	dws_process.pid = getpid();
	noted = 0;
	mine.random = mine.left = 0; /* it has points of its own */
	dws_sample_forked();
	dwm_blocks_forget();
}

/* A program with a malloc of its own, as one that is linked with jemalloc's archive, never calls these functions. */
static void malloc_check(void)
{
	uintptr_t used = (uintptr_t)dlsym(RTLD_DEFAULT, "malloc");
	struct dws_stack own = { 0, 0 }, found = { 0, 0 }, libc = { 0, 0 };

	if (dws_process.is_program && dws_cfi_module((uintptr_t)&malloc_is_early, &own) && (used < own.low || used >= own.high))
		dws_recorder->meta(DW_KEY_HEAP_LACKS, "the program has a malloc of its own");
	if (dws_cfi_module((uintptr_t)next.malloc, &found) && dws_cfi_module((uintptr_t)dws_next("getpid"), &libc) &&
	    found.low != libc.low)
		next_module = found;
}

__attribute__((constructor)) static void malloc_begin(void)
{
	const char *wanted = getenv("DWELL_HEAP");
	unsigned long bytes = wanted && getenv("DWELL_TRACE") ? strtoul(wanted, NULL, 10) : 0;

	if (bytes < LEAST_PERIOD || bytes > MOST_PERIOD)
		return;
	dws_prepare();
	malloc_check();
	pthread_atfork(NULL, NULL, malloc_in_child);
	mine.random = 0;
	mine.left = 0;
	period = bytes;
}
