/* What functions of the heap return. */
#define _GNU_SOURCE
#include "harm.h"
#include <malloc.h>

static void sizes_main(long value)
{
	static const size_t sizes[] = {
		0, 1, 8, 24, 25, 100, 1000, 1032, 1033, 4096, 65536, 131071, 200000, 600000, 5000000
	};
	harm_compute(value ? TICKS : 0);
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		char *block = malloc(sizes[i]);
		size_t usable = malloc_usable_size(block);
		harm_say("malloc(%zu): %d, usable %zu, aligned %d\n", sizes[i], block != NULL,
		         sizes[i] < 4096 || usable < sizes[i] ? usable : sizes[i], (uintptr_t)block % 16 == 0);
		free(block);
	}
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		char *block = calloc(1, sizes[i]);
		size_t others = 0;
		for (size_t k = 0; k < sizes[i]; k++)
			others += block[k] != 0;
		harm_say("calloc(%zu): %d, not 0: %zu\n", sizes[i], block != NULL, others);
		free(block);
	}
}

static void special_main(long value UNUSED)
{
	void *block = malloc(100), *other = NULL;
	harm_compute(TICKS);
	harm_say("realloc(p, 0): %d\n", realloc(block, 0) != NULL);
	harm_say("realloc(NULL, 10): %d\n", (block = realloc(NULL, 10)) != NULL);
	free(block);
	free(NULL);
	harm_result("calloc of too much", calloc((size_t)1 << 62, 8) ? 0 : -1);
	harm_result("malloc of too much", malloc((size_t)1 << 62) ? 0 : -1);
	harm_result("reallocarray of too much", reallocarray(NULL, (size_t)1 << 62, 8) ? 0 : -1);
	harm_say("posix_memalign(3): %s\n", strerrorname_np(posix_memalign(&other, 3, 10)));
	harm_say("posix_memalign(64): %d, aligned %d\n", posix_memalign(&other, 64, 600000), (uintptr_t)other % 64 == 0);
	free(other);
	for (size_t alignment = 16; alignment <= 1 << 20; alignment *= 4) {
		block = aligned_alloc(alignment, alignment);
		harm_say("aligned_alloc(%zu): aligned %d\n", alignment, (uintptr_t)block % alignment == 0);
		free(block);
		block = memalign(alignment, 700000);
		harm_say("memalign(%zu): aligned %d\n", alignment, (uintptr_t)block % alignment == 0);
		free(block);
	}
	block = valloc(10);
	harm_say("valloc: aligned %d\n", (uintptr_t)block % 4096 == 0);
	free(block);
	block = pvalloc(10);
	harm_say("pvalloc: usable %d\n", malloc_usable_size(block) >= 4096);
	free(block);
	harm_say("mallopt %d\n", mallopt(M_ARENA_MAX, 2));
	(void)malloc_trim(0);
}

static void *churn_begin(void *value)
{
	unsigned random = (unsigned)(long)value;
	char *blocks[256] = { NULL };
	size_t sizes[256] = { 0 }, sum = 0, bad = 0;
	for (int i = 0; i < 60000; i++) {
		random = random * 1103515245 + 12345;
		size_t at = random >> 8 & 255, size = random >> 4 & 0xffff;
		if (blocks[at] && sizes[at] && blocks[at][0] != (char)at)
			bad++;
		if (random & 1 << 20) {
			free(blocks[at]);
			blocks[at] = malloc(size);
		} else {
			blocks[at] = realloc(blocks[at], size + 1);
			size++;
		}
		sizes[at] = size;
		if (size)
			blocks[at][0] = (char)at;
		sum += size;
	}
	for (int i = 0; i < 256; i++)
		free(blocks[i]);
	harm_say("%s", bad ? "a block was changed\n" : "");
	return (void *)sum;
}

static void churn_main(long count)
{
	pthread_t threads[8];
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, churn_begin, (void *)(i + 1));
	for (long i = 0; i < count; i++) {
		void *sum = NULL;
		pthread_join(threads[i], &sum);
		harm_say("sum %lu\n", (unsigned long)sum);
	}
}

static volatile int stop;

static void *busy_begin(void *value)
{
	unsigned random = (unsigned)(long)value + 1;
	while (!stop) {
		random = random * 1664525 + 1013904223;
		free(malloc(64 + (random >> 16)));
	}
	return NULL;
}

/* Children allocate while threads of the parent do. */
static void fork_main(long count)
{
	pthread_t threads[3];
	int bad = 0;
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, busy_begin, (void *)i);
	for (int i = 0; i < count; i++) {
		int status = 0;
		pid_t pid = fork();
		if (!pid) {
			for (int k = 0; k < 50; k++)
				free(malloc(100000));
			_exit(3);
		}
		waitpid(pid, &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	harm_say("bad %d\n", bad);
}

static void map_main(long value UNUSED)
{
	harm_compute(TICKS);
	char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory[5] = 1;
	char *moved = mremap(memory, 1 << 20, 1 << 22, MREMAP_MAYMOVE);
	harm_say("mremap %d %d\n", moved != MAP_FAILED, moved[5]);
	harm_result("mprotect", mprotect(moved, 4096, PROT_READ));
	harm_result("munmap", munmap(moved, 1 << 22));
	harm_result("mmap", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
	void *end = sbrk(0);
	harm_say("sbrk grows %d\n", sbrk(4096) == end);
}

/* The heap's own checks still end a program. */
static void broken_main(long how)
{
	char *block = malloc(how < 0 ? 700000 : 40);
	harm_compute(.02);
	if (how == 1) {
		free(block);
		char *volatile again = block;
		free(again);
	} else {
		char *volatile inside = block + 8;
		free(inside);
	}
	harm_say("nothing happened\n");
}

const struct harm_program harm_memory[] = {
	{ "heap", "sizes", sizes_main, 0 },
	{ "heap", "sizes, later", sizes_main, 1 },
	{ "heap", "special calls", special_main, 0 },
	{ "heap", "1 thread changes blocks", churn_main, 1 },
	{ "heap", "4 threads change blocks", churn_main, 4 },
	{ "heap", "fork while threads allocate", fork_main, 60 },
	{ "heap", "mappings", map_main, 0 },
	{ "heap", "a block is freed twice", broken_main, 1 },
	{ "heap", "a pointer into a block is freed", broken_main, 2 },
	{ NULL, NULL, NULL, 0 },
};
