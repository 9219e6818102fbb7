/*
 * CUPTI's buffers: at most DWC_MOST_BUFFERS at once, of one size.
 *
 * CUPTI asks for a buffer when a record needs one, and returns it full, or at a flush. Its records are read at
 * once, in CUPTI's thread or in the one that flushes, and the buffer can be given again. If all are in use,
 * CUPTI gets none: it drops records, counts them, and dwc_cupti_dropped() reports the count.
 */
#include "cuda.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *buffer_memory[DWC_MOST_BUFFERS]; /* atomic; NULL: not mapped yet */
static uint64_t buffer_used;                     /* atomic; a bit each */
static uint64_t buffer_returned, buffer_refused; /* atomic */
static bool buffer_cleared; /* CUPTI takes them for cleared, and does not clear them in the program's threads */

#define BEFORE 4u /* are mapped before CUPTI asks */

_Static_assert(DWC_MOST_BUFFERS == 64, "a bit each");

static uint8_t *buffer_map(unsigned index)
{
	uint8_t *memory = __atomic_load_n(&buffer_memory[index], __ATOMIC_ACQUIRE);

	if (memory)
		return memory;
	memory = mmap(NULL, DWC_BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	__atomic_store_n(&buffer_memory[index], memory, __ATOMIC_RELEASE);
	return memory;
}

void dwc_buffers_prepare(void)
{
	buffer_cleared = true;
	for (unsigned i = 0; i < BEFORE; i++)
		if (buffer_map(i))
			for (size_t at = 0; at < DWC_BUFFER_BYTES; at += 4096)
				*(volatile uint8_t *)&buffer_memory[i][at] = 0;
}

static void buffer_request(uint8_t **buffer, size_t *size, size_t *most_records)
{
	uint64_t used = __atomic_load_n(&buffer_used, __ATOMIC_RELAXED);
	int saved = errno;
	unsigned index;

	*buffer = NULL;
	*size = *most_records = 0; /* 0 records: as many as fit */
	do {
		if (used == UINT64_MAX) {
			__atomic_fetch_add(&buffer_refused, 1, __ATOMIC_RELAXED);
			return;
		}
		index = (unsigned)__builtin_ctzll(~used);
		/* Acquire pairs with the release of a return: the buffer is not read any more. */
	} while (!__atomic_compare_exchange_n(&buffer_used, &used, used | (uint64_t)1 << index, true,
	                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	*buffer = buffer_map(index);
	if (*buffer) {
		*size = DWC_BUFFER_BYTES;
	} else {
		__atomic_fetch_and(&buffer_used, ~((uint64_t)1 << index), __ATOMIC_RELAXED);
		__atomic_fetch_add(&buffer_refused, 1, __ATOMIC_RELAXED);
	}
	errno = saved;
}

static void buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	int saved = errno;

	(void)context, (void)stream, (void)size;
	for (unsigned i = 0; buffer && i < DWC_MOST_BUFFERS; i++) {
		if (__atomic_load_n(&buffer_memory[i], __ATOMIC_ACQUIRE) != buffer)
			continue; /* another tool's, if it is none of them */
		if (valid && valid <= DWC_BUFFER_BYTES)
			dwc_records_take(buffer, valid);
		if (buffer_cleared)
			memset(buffer, 0, valid <= DWC_BUFFER_BYTES ? valid : DWC_BUFFER_BYTES);
		__atomic_fetch_add(&buffer_returned, 1, __ATOMIC_RELAXED);
		__atomic_fetch_and(&buffer_used, ~((uint64_t)1 << i), __ATOMIC_RELEASE);
		break;
	}
	errno = saved;
}

static void buffer_request_v2(uint8_t **buffer, size_t *size, size_t *most_records, void *info)
{
	(void)info;
	buffer_request(buffer, size, most_records);
}

static void buffer_complete_v2(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	buffer_complete(NULL, 0, buffer, size, valid);
}

const struct dwc_buffer_functions dwc_buffer_functions = { buffer_request, buffer_complete, buffer_request_v2,
	                                                       buffer_complete_v2 };

uint64_t dwc_buffers_returned(void)
{
	return __atomic_load_n(&buffer_returned, __ATOMIC_RELAXED);
}

uint64_t dwc_buffers_refused(void)
{
	return __atomic_load_n(&buffer_refused, __ATOMIC_RELAXED);
}
