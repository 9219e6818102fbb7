/*
 * Events of the kernel in place of a thread's timer: they also say which functions of the kernel the thread is in.
 *
 * The kernel sends the same signal at each event, and the handler walks the stack in user space as it does for a timer.
 * What the kernel saw lies in memory that it shares with the thread. A thread that is in the kernel gets the signal on
 * the way out, so all events since the last signal have the same stack in user space.
 *
 * The descriptor is closed at once: the mapping keeps the event alive, and the program finds its own numbers.
 */
#include "sampler.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "format/perf_event.h"

#define RECORD_LOST 2u
#define RECORD_SAMPLE 9u
#define MOST_ADDRESS ((uint64_t)-4096) /* what is larger in a stack is a mark */
#define OWNER_THREAD 0                 /* as the kernel numbers them; libc may have no names */
#define SET_SIGNAL 10
#define SET_OWNER 15

/* The first of two pages: positions in the second one. */
struct dws_ring {
	uint64_t unused[128];
	uint64_t head, tail;
};

bool dws_perf_start(struct dws_perf *perf, long period_ns, int number)
{
	const size_t page = getauxval(AT_PAGESZ);
	const int owner[2] = { OWNER_THREAD, (int)syscall(SYS_gettid) };
	int fd = dw_perf_event_open_samples((uint64_t)period_ns);
	void *ring = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	perf->ring = NULL;
	perf->number = fd + 1;
	if (ring != MAP_FAILED) {
		perf->ring = ring;
		if (fcntl(fd, SET_SIGNAL, number) != 0 || fcntl(fd, SET_OWNER, owner) != 0 || fcntl(fd, F_SETFL, O_ASYNC) != 0)
			dws_perf_stop(perf);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return perf->ring != NULL;
}

void dws_perf_stop(struct dws_perf *perf)
{
	void *ring = perf->ring;

	perf->ring = NULL;
	if (ring)
		munmap(ring, 2 * getauxval(AT_PAGESZ));
}

uint32_t dws_perf_next(const struct dws_perf *perf, struct dws_kernel *kernel)
{
	const uint64_t words = getauxval(AT_PAGESZ) / 8;
	struct dws_ring *ring = perf->ring;
	const uint64_t *data = (const uint64_t *)(const void *)ring + words;
	/* Pairs with the kernel's order: records are complete up to there. */
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) / 8, at = ring->tail / 8;
	uint32_t periods = 0;

	kernel->count = 0;
	while (!periods && at < head) {
		uint64_t begin = data[at % words], bytes = begin >> 48, last;

		if (bytes < 8) /* never */
			bytes = (head - at) * 8;
		if ((uint32_t)begin == RECORD_LOST)
			periods = (uint32_t)data[(at + 2) % words];
		if ((uint32_t)begin == RECORD_SAMPLE) {
			periods = 1;
			last = at + 2 + data[(at + 1) % words];
			for (uint64_t i = at + 2; i < last && i < at + bytes / 8 && kernel->count < DWS_KERNEL_FRAMES; i++) {
				uint64_t address = data[i % words];

				if (address < MOST_ADDRESS) { /* of a caller it is where it goes on */
					kernel->places[kernel->count] = (uintptr_t)address - (kernel->count > 0);
					kernel->count++;
				}
			}
		}
		at += bytes / 8;
	}
	/* Pairs with the kernel's order: it writes there after this thread has read. */
	__atomic_store_n(&ring->tail, at * 8, __ATOMIC_RELEASE);
	return periods;
}
