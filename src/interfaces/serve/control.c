/*
 * The control page of a trace, the only way to control a program; see format/layout.h.
 *
 * A capture is a word in that page that contains its own end (format/control.h). So nothing stays
 * enabled if this process is killed. A capture also opens gates that a schedule has closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/host.h"
#include "dwell/probe.h"
#include "format/control.h"
#include "import/import.h"
#include "serve/control.h"

/* To check a process of another pid namespace, all of /proc is searched. */
#define MOST_SCANS 64u
#define LOOK_AGAIN_MS 500u

static int control_refuse(const char *path, struct dwell_error *error)
{
	char what[DW_FORM_TEXT];

	dw_form_of_path(path, what);
	return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is not a dwell trace%s%s", path, *what ? ": " : "", what);
}

int dw_serve_control_open(struct dw_serve_control *control, const char *trace, struct dwell_error *error)
{
	int fd = open(trace, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	struct dw_head *head;

	memset(control, 0, sizeof *control);
	if (fd < 0)
		return dw_error_set(error, DWELL_E_IO, "cannot open %s for writing, which a capture needs: %s",
		                    trace, strerror(errno));
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < DW_BLOCK_BYTES) {
		close(fd);
		return control_refuse(trace, error);
	}
	head = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (head == MAP_FAILED)
		return dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", trace, strerror(errno));
	if (memcmp(head->magic, DW_MAGIC, sizeof head->magic) != 0) {
		munmap(head, DW_BLOCK_BYTES);
		return control_refuse(trace, error);
	}
	if (head->version_major != DW_VERSION_MAJOR || head->block_bytes != DW_BLOCK_BYTES) {
		munmap(head, DW_BLOCK_BYTES);
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is not a dwell trace of this version (dwell info says more)", trace);
	}
	control->head = head;
	control->page = (struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET);
	dw_control_look(head, control->page, dw_serve_ticks(control));
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

uint32_t dw_serve_gate_count(const struct dw_serve_control *control)
{
	uint32_t count = __atomic_load_n(&control->head->next_gate, __ATOMIC_SEQ_CST);

	return count < DW_GATES ? count : DW_GATES;
}

bool dw_serve_arm(struct dw_serve_control *control, uint32_t mask, uint64_t duration_ms)
{
	uint64_t now = dw_serve_ticks(control);
	uint64_t end = now + (uint64_t)((double)control->head->ticks_per_second * 1e-3 * (double)duration_ms);

	mask |= __atomic_load_n(&control->page->mask, __ATOMIC_SEQ_CST) & ~DWELL_MASK_NONE;
	control->capture = dw_control_capture(mask, end);
	if (!dw_control_begin_capture(control->head, control->page, control->capture, now))
		control->capture = 0;
	return control->capture;
}

void dw_serve_disarm(struct dw_serve_control *control)
{
	if (control->capture)
		dw_control_end_capture(control->head, control->page, control->capture);
	control->capture = 0;
}

uint64_t dw_serve_ticks(const struct dw_serve_control *control)
{
	return dw_clock_read(control->head->clock_kind);
}

/* A trace of an older version has no namespace: its processes are looked up in this process's. */
static bool control_process_lives(const struct dw_serve_control *control, uint32_t pid, uint64_t birth, unsigned *scans)
{
	struct dw_identity identity = { pid, control->head->creator_pid_namespace, birth };
	enum dw_alive alive = pid ? dw_process_lives(&identity, scans) : DW_DEAD;

	return alive == DW_ALIVE || (alive == DW_ALIVE_UNKNOWN && identity.pid_namespace);
}

/* A process stores its id before its birth. Until then the birth is 0. */
static bool control_gate_lives(const struct dw_serve_control *control, uint32_t gate, unsigned *scans)
{
	uint32_t birth = __atomic_load_n(&control->page->gate_births[gate], __ATOMIC_RELAXED);
	uint32_t pid = __atomic_load_n(&control->page->gates[gate].pid, __ATOMIC_RELAXED);

	return control_process_lives(control, pid, birth, scans);
}

bool dw_serve_gate_steps(const struct dw_serve_control *control, uint32_t gate, uint64_t *steps)
{
	unsigned scans = MOST_SCANS;

	*steps = __atomic_load_n(&control->page->gates[gate].step, __ATOMIC_RELAXED);
	return control_gate_lives(control, gate, &scans);
}

static bool control_has_writer(const struct dw_serve_control *control)
{
	uint32_t count = dw_serve_gate_count(control);
	unsigned scans = MOST_SCANS;

	if (control_process_lives(control, control->head->creator_pid, control->head->creator_birth, &scans))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (control_gate_lives(control, i, &scans))
			return true;
	return false;
}

bool dw_serve_is_alive(struct dw_serve_control *control)
{
	uint64_t now = dw_clock_monotonic_ms();

	if (now < control->alive_until_ms)
		return true;
	if (!control_has_writer(control))
		return false;
	control->alive_until_ms = now + LOOK_AGAIN_MS;
	return true;
}
