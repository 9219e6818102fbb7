/*
 * Windows: how a process gets blocks of the file.
 *
 * A process claims a window by advancing head.next_block, which all processes of the run share.
 * It then reserves the window on disk, so that a full disk is an error here and not a SIGBUS in
 * a probe, and maps it once. Blocks are taken from it one by one, under the process's lock.
 * Windows stay mapped for the life of the process. They use only address space, because the pages
 * of closed chunks are dropped from the process. The pages of a fresh window are dropped when its
 * last chunk is closed; those of any window, when chunks were opened in DW_RESIDENT_WINDOWS others
 * since. So a process keeps at most DW_RESIDENT_WINDOWS windows in memory and one chunk per stream.
 *
 * Fresh pages are the largest cost of recording: 4 us each where the kernel maps them one by one
 * (12 ns a range), and a quarter of that in large folios, which MADV_HUGEPAGE requests. They are
 * fetched when a chunk is opened. So the trace shows this time as the recorder's own, and not
 * within a range of the program.
 */
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/windows.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>

#include "base/system/descriptor.h"
#include "base/system/system.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool window_is_trace(int fd)
{
	struct stat status;

	return fd >= 0 && dw_call(SYS_fstat, fd, &status) == 0 && dw_session_is_file(&status);
}

/* Programs that become daemons close all descriptors, and other files may then get their numbers. So a copy of the
 * session's descriptor is made, whose number no other code knows and no other file gets, and the copy is checked: it
 * stays what it is while it is used, or is closed. If it is not the trace, or if the limit on descriptors permits no
 * descriptor that stays open, the trace is opened again by name. */
int dw_window_file(void)
{
	int kept = DW_LOAD(dw_session.fd), fd = kept < 0 ? -1 : dw_descriptor_copy(kept);

	if (window_is_trace(fd))
		return fd;
	dw_descriptor_close(fd);
	kept = dw_descriptor_open(dw_session.path, O_RDWR | O_NONBLOCK | O_NOCTTY, 0);
	fd = kept < 0 ? -1 : dw_descriptor_copy(kept);
	if (fd < 0) { /* that was the last number */
		fd = kept;
		kept = -1;
	}
	if (window_is_trace(fd) && dw_descriptor_is_apart(kept)) {
		DW_STORE(dw_session.fd, kept);
		return fd;
	}
	dw_descriptor_close(kept);
	if (window_is_trace(fd))
		return fd;
	dw_descriptor_close(fd);
	return -1;
}

void dw_window_forget_file(void)
{
	int fd = DW_LOAD(dw_session.fd);

	DW_STORE(dw_session.fd, -1);
	if (window_is_trace(fd))
		dw_descriptor_close(fd);
}

#define MANY_WINDOWS 16u /* of a file: more processes share it than the usual few */
#define SMALL_BLOCKS 4u

/* Near the end of the budget windows get smaller, so that one process does not take all that is
 * left. Of many processes, as a build starts, most write little: their first windows are small. */
static uint32_t window_blocks(uint32_t first, uint32_t limit)
{
	uint32_t left = limit - first, count = DW_WINDOW_BLOCKS - first % DW_WINDOW_BLOCKS;

	if (dw_session.runner)
		return 1; /* `dwell run` writes only a journal */
	if (left < 8 * DW_WINDOW_BLOCKS && count > left / 8)
		count = left / 8;
	if (first >= MANY_WINDOWS * DW_WINDOW_BLOCKS && dw_process->window_count < 4 && count > SMALL_BLOCKS)
		count = SMALL_BLOCKS;
	return count ? count : 1;
}

static uint32_t window_claim(struct dw_head *head, enum dw_claim kind, uint32_t *count)
{
	uint32_t limit = head->max_blocks - (kind == DW_CLAIM_RESERVED ? 0 : head->reserve_blocks);
	uint32_t first = __atomic_load_n(&head->next_block, __ATOMIC_RELAXED);

	do {
		if (first >= limit)
			return 0;
		*count = kind == DW_CLAIM_RESERVED ? 1 : window_blocks(first, limit);
	} while (!__atomic_compare_exchange_n(&head->next_block, &first, first + *count, true,
	                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return first;
}

/* Shortens a claim to `keep` blocks, unless something was claimed after it. */
static void window_give_back(struct dw_head *head, uint32_t first, uint32_t count, uint32_t keep)
{
	uint32_t end = first + count;

	__atomic_compare_exchange_n(&head->next_block, &end, first + keep, false, __ATOMIC_RELAXED,
	                            __ATOMIC_RELAXED);
}

static bool window_over_file_limit(uint32_t end_block)
{
	uint64_t limit[2]; /* the one that holds, which may be UINT64_MAX, and the hard one */

	/* A file that grows past this limit raises SIGXFSZ, which kills the process. */
	return dw_call(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, limit) == 0 &&
	       (uint64_t)end_block * DW_BLOCK_BYTES > limit[0];
}

static bool window_reserve(int fd, uint32_t first, uint32_t *count, enum dw_loss *cause)
{
	struct dw_head *head = dw_session_map();
	uint32_t claimed = *count;

	for (;; *count /= 2) {
		if (*count == 0) {
			window_give_back(head, first, claimed, 0);
			return false;
		}
		if (window_over_file_limit(first + *count)) {
			*cause = DW_LOSS_LIMIT;
			continue;
		}
		long result = dw_call(SYS_fallocate, fd, 0, (off_t)first * DW_BLOCK_BYTES, (off_t)*count * DW_BLOCK_BYTES);

		if (result == 0)
			break;
		if (result == -EINTR) {
			*count *= 2;
			continue;
		}
		*cause = result == -EFBIG ? DW_LOSS_LIMIT : DW_LOSS_DISK;
	}
	if (*count < claimed)
		window_give_back(head, first, claimed, *count);
	return true;
}

/*
 * Limits the memory of this process: only the pages of the DW_RESIDENT_WINDOWS windows in which
 * chunks were opened last stay. The pages of another window are dropped all at once. To unmap
 * them chunk by chunk would split the large folio that neighbouring chunks share, and would
 * interrupt the other cores each time. A thread with an open chunk there fetches its pages again.
 * Relaxed, because all this decides which pages are mapped and not what they contain.
 */
static void window_drop_pages(struct dw_window *window)
{
	if (dw_may_call())
		dw_call(SYS_madvise, window->base, (size_t)window->count * DW_BLOCK_BYTES, MADV_DONTNEED);
}

static void window_keep_resident(struct dw_window *window)
{
	uint32_t index = (uint32_t)(window - dw_process->windows) + 1, at, old;
	struct dw_window *last;

	if (DW_LOAD(window->resident) || __atomic_exchange_n(&window->resident, 1, __ATOMIC_RELAXED))
		return;
	at = __atomic_fetch_add(&dw_process->resident_next, 1, __ATOMIC_RELAXED) % DW_RESIDENT_WINDOWS;
	old = __atomic_exchange_n(&dw_process->resident[at], index, __ATOMIC_RELAXED);
	last = old && old != index ? &dw_process->windows[old - 1] : NULL;
	if (last && __atomic_exchange_n(&last->resident, 0, __ATOMIC_RELAXED))
		window_drop_pages(last);
}

#define EXT4_MAGIC 0xef53
#define FIRST_BLOCKS ((2u << 20) / DW_BLOCK_BYTES) /* of the size of the kernel's largest folio */

extern char __libc_single_threaded __attribute__((weak));

/*
 * Writes zeros to a window's blocks in the first 2 MiB of the file. Without it the window gets single pages, because
 * the file's head is among them: a block took the kernel 31 us, and the first one 1.3 ms. ext4 gives each block that is
 * written a large folio: 12 us to write it and 5 to map it, and the next 2 MiB become one folio. tmpfs has no such
 * folios. Where other threads run, one of them could close all descriptors and open a file of its own with the number
 * of this one.
 */
static void window_write_first_blocks(int fd, uint32_t first, uint32_t count)
{
	static char zeros[4096];
	struct iovec block[DW_BLOCK_BYTES / sizeof zeros];
	struct statfs fs;

	if (first >= FIRST_BLOCKS || count == 1 || !&__libc_single_threaded || !__libc_single_threaded ||
	    dw_call(SYS_fstatfs, fd, &fs) != 0 || fs.f_type != EXT4_MAGIC)
		return;
	for (size_t i = 0; i < sizeof block / sizeof *block; i++)
		block[i] = (struct iovec){ zeros, sizeof zeros };
	for (uint32_t i = first; i < first + count && i < FIRST_BLOCKS; i++)
		if (dw_call(SYS_pwritev, fd, block, sizeof block / sizeof *block, (off_t)i * DW_BLOCK_BYTES) !=
		    (long)DW_BLOCK_BYTES)
			return;
}

/* Maps blocks of the file; NULL: the kernel has no memory for that. */
static char *window_map(int fd, uint32_t first, uint32_t count)
{
	size_t bytes = (size_t)count * DW_BLOCK_BYTES;
	long base = dw_call(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)first * DW_BLOCK_BYTES);

	if (dw_system_failed(base))
		return NULL;
	dw_call(SYS_madvise, base, bytes, MADV_HUGEPAGE); /* may be refused */
	return (char *)(uintptr_t)base;
}

/* Claims, reserves and maps blocks for a window that is not in use yet. */
static bool window_fill(struct dw_window *window, int fd, enum dw_claim kind, enum dw_loss *cause)
{
	uint32_t count = 0, first = window_claim(dw_session_map(), kind, &count);

	if (!first || !window_reserve(fd, first, &count, cause))
		return false;
	window_write_first_blocks(fd, first, count);
	window->base = window_map(fd, first, count);
	if (!window->base) {
		window_give_back(dw_session_map(), first, count, 0);
		*cause = DW_LOSS_MEMORY;
		return false;
	}
	window->first = first;
	window->count = count;
	window->closed = 0;
	window->resident = 0;
	return true;
}

static bool open_window(enum dw_claim kind, enum dw_loss *cause)
{
	uint32_t index = dw_process->window_count;
	bool done;
	int fd;

	*cause = !dw_may_call() ? DW_LOSS_SANDBOX : index == DW_MAX_WINDOWS ? DW_LOSS_FULL : DW_LOSS_STOPPED;
	if (*cause != DW_LOSS_STOPPED || !dw_session_is_whole())
		return false;
	dw_fault_watch();
	*cause = DW_LOSS_DISK;
	fd = dw_window_file();
	if (fd < 0)
		return false;
	*cause = DW_LOSS_FULL;
	done = window_fill(&dw_process->windows[index], fd, kind, cause);
	dw_descriptor_close(fd);
	if (!done)
		return false;
	/* Pairs with the acquire in window_of(): the window is complete. */
	__atomic_store_n(&dw_process->window_count, index + 1, __ATOMIC_RELEASE);
	dw_process->window = (uint64_t)(index + 1) << 32;
	DW_STORE(dw_process->clock_due, true);
	return true;
}

uint32_t dw_window_take(enum dw_claim claim_kind, char **address, enum dw_loss *cause)
{
	uint32_t index = (uint32_t)(dw_process->window >> 32);
	uint32_t next = (uint32_t)dw_process->window;

	if (!index || next == dw_process->windows[index - 1].count) {
		if (!open_window(DW_CLAIM_STREAM, cause) &&
		    (claim_kind != DW_CLAIM_RESERVED || *cause != DW_LOSS_FULL ||
		     !open_window(DW_CLAIM_RESERVED, cause)))
			return 0;
		index = (uint32_t)(dw_process->window >> 32);
		next = 0;
	}
	dw_process->window = (uint64_t)index << 32 | (next + 1);
	*address = dw_process->windows[index - 1].base + (size_t)next * DW_BLOCK_BYTES;
	return dw_process->windows[index - 1].first + next;
}

static struct dw_window *window_of(uint32_t block)
{
	uint32_t count = __atomic_load_n(&dw_process->window_count, __ATOMIC_ACQUIRE);

	/* The newest window first, because most requests are for it. */
	while (count-- > 0)
		if (block - dw_process->windows[count].first < dw_process->windows[count].count)
			return &dw_process->windows[count];
	return NULL;
}

char *dw_window_address(uint32_t block)
{
	const struct dw_window *window = window_of(block);

	return window ? window->base + (size_t)(block - window->first) * DW_BLOCK_BYTES : NULL;
}

/* Writes to each page without changing it, because a chunk's header may be there already. An
 * exchange of 0 for 0 makes the kernel map a writable page. Unlike an addition of 0, a compiler
 * cannot turn it into a read. */
static void window_touch_pages(char *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 4096) {
		char zero = 0;

		__atomic_compare_exchange_n(memory + at, &zero, 0, false, __ATOMIC_RELAXED,
		                            __ATOMIC_RELAXED);
	}
}

bool dw_window_fetch(uint32_t block, char *chunk)
{
	struct dw_window *window = window_of(block);
	long result;

	if (window)
		window_keep_resident(window);
	/* Since Linux 5.14; older kernels and some sandboxes refuse it. */
	result = dw_may_call() ? dw_call(SYS_madvise, chunk, DW_BLOCK_BYTES, MADV_POPULATE_WRITE) : -EPERM;
	if (result == 0)
		return true;
	/* A write would raise SIGBUS: a copy-on-write file system has no space for the new copy, or
	 * the disk fails. */
	if (result == -EFAULT || result == -EHWPOISON)
		return false;
	window_touch_pages(chunk, DW_BLOCK_BYTES);
	return true;
}

void dw_window_drop(uint32_t block)
{
	struct dw_window *window = window_of(block);

	if (!window)
		return;
	if (!DW_LOAD(window->resident)) {
		/* The chunk was still open when the pages of its window were dropped. */
		if (dw_may_call())
			dw_call(SYS_madvise, window->base + (size_t)(block - window->first) * DW_BLOCK_BYTES, DW_BLOCK_BYTES,
		        MADV_DONTNEED);
	} else if (__atomic_add_fetch(&window->closed, 1, __ATOMIC_RELAXED) == window->count) {
		/* A fresh window that is now full: most programs never access it again. */
		DW_STORE(window->resident, 0);
		window_drop_pages(window);
	}
}
