/*
 * The one way back to a program: its control page; see format/layout.h.
 *
 * Gates are computed as the recorder does it: whoever changes a word of one adds to
 * `generation` and computes until no generation passed in between, so that the last to
 * compute has seen all changes. All of it seq_cst, paired with compute_mask() of
 * record/step.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "dwell/probe.h"
#include "format/gate.h"
#include "serve/inside.h"

int dw_serve_control_open(struct dw_serve_control *control, const char *trace,
                          struct dwell_error *error)
{
	int file = open(trace, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	struct dw_head *head;

	memset(control, 0, sizeof *control);
	if (file < 0)
		return dw_error_set(error, DWELL_E_IO, "cannot open %s for writing, which a capture needs: %s",
		                    trace, strerror(errno));
	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < DW_BLOCK_BYTES) {
		close(file);
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is not a dwell trace", trace);
	}
	head = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (head == MAP_FAILED)
		return dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", trace, strerror(errno));
	if (memcmp(head->magic, DW_MAGIC, sizeof head->magic) != 0 ||
	    head->version_major != DW_VERSION_MAJOR || head->block_bytes != DW_BLOCK_BYTES) {
		munmap(head, DW_BLOCK_BYTES);
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is not a dwell trace of this version (dwell info says more)", trace);
	}
	control->head = head;
	control->page = (struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET);
	return 0;
}

void dw_serve_control_close(struct dw_serve_control *control)
{
	if (!control->head)
		return;
	dw_serve_disarm(control);
	munmap(control->head, DW_BLOCK_BYTES);
	control->head = NULL;
}

static uint32_t gate_count(const struct dw_serve_control *control)
{
	uint32_t count = __atomic_load_n(&control->head->next_gate, __ATOMIC_SEQ_CST);

	return count < DW_GATES ? count : DW_GATES;
}

static void set_mask(struct dw_serve_control *control, uint32_t wanted)
{
	struct dw_control *page = control->page;
	uint32_t generation, now;

	__atomic_store_n(&page->mask, wanted, __ATOMIC_SEQ_CST);
	generation = __atomic_add_fetch(&page->generation, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		uint32_t count = gate_count(control);

		for (uint32_t i = 0; i < count; i++)
			dw_gate_compute(page, &page->gates[i]);
		now = __atomic_load_n(&page->generation, __ATOMIC_SEQ_CST);
		if (now == generation)
			return;
		generation = now;
	}
}

void dw_serve_arm(struct dw_serve_control *control, uint32_t mask)
{
	control->before = __atomic_load_n(&control->page->mask, __ATOMIC_SEQ_CST);
	control->armed = true;
	set_mask(control, (control->before & ~DWELL_MASK_NONE) | mask);
}

void dw_serve_disarm(struct dw_serve_control *control)
{
	if (control->armed)
		set_mask(control, control->before);
	control->armed = false;
}

uint64_t dw_serve_ticks(const struct dw_serve_control *control)
{
	return dw_clock_read(control->head->clock_kind);
}

static bool lives(uint32_t pid)
{
	return pid && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

bool dw_serve_is_alive(const struct dw_serve_control *control)
{
	uint32_t count = gate_count(control);

	if (lives(control->head->creator_pid))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (lives(__atomic_load_n(&control->page->gates[i].pid, __ATOMIC_RELAXED)))
			return true;
	return false;
}
