/*
 * Side files: the file of a process that cannot write to its run's file, because it is another user's, on another
 * machine or of another boot. Readers find it next to the run's file, by the run's id.
 *
 * Many such processes record nothing: `su`, and what it starts. So the file is made before the first record. Until then
 * the process has a session whose head is in private memory and has no blocks: its gate is open, so that the first
 * record comes to the recorder, which registers the process and makes the file first. A child of fork makes its own.
 *
 * That first record may be in a signal handler: nothing here takes a lock or memory.
 */
#include "record/record.h"
#include "record/session_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/system/system.h"
#include "record/file.h"

#define FOLDERS 3u

/* What is known when the library is loaded. */
static struct {
	struct dwell_options options;
	uint8_t run_id[16];
	char layers[DW_LAYERS_BYTES];
	char folders[FOLDERS][4096]; /* where it may be made, the best one first */
	char name[256];              /* of the run's file, without its ending */
	char host[65];
} side;

static int side_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool side_parse_run_id(const char *text)
{
	for (int i = 0; i < 16; i++) {
		int high = text ? side_digit(text[2 * i]) : -1, low = high < 0 ? -1 : side_digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		side.run_id[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Appends a part of a text; what does not fit is cut off. */
static void side_append(char *text, size_t size, const char *part, size_t length)
{
	size_t used = strlen(text);

	if (length > size - 1 - used)
		length = size - 1 - used;
	memcpy(text + used, part, length);
	text[used + length] = '\0';
}

static void side_append_number(char *text, size_t size, uint32_t number, uint32_t base, int least)
{
	char digits[16];
	int at = sizeof digits;

	for (; number || least > 0; number /= base, least--)
		digits[--at] = "0123456789abcdef"[number % base];
	side_append(text, size, digits + at, sizeof digits - (size_t)at);
}

/* Copies what the run was asked to record. `run` is the head of its file. */
static void side_copy_options(const struct dw_head *run)
{
	const struct dw_control *control =
	    (const struct dw_control *)(const void *)((const char *)run + DW_CONTROL_OFFSET);
	struct dwell_options *options = &side.options;

	options->max_size_bytes = (uint64_t)run->max_blocks * DW_BLOCK_BYTES;
	options->keep = run->keep <= DWELL_KEEP_NEWEST ? (enum dwell_keep)run->keep : DWELL_KEEP_BOTH;
	options->categories = control->mask & ~DWELL_DETAIL_LAYERS;
	options->steps_from = control->steps_from;
	options->steps_to = control->steps_to;
	options->schedule = (struct dwell_schedule){ control->skip_first, control->skip_first_wait,
		control->wait, control->warmup, control->active, control->repeat };
	if (control->mask & DWELL_DETAIL_LAYERS) {
		memcpy(side.layers, control->layers, DW_LAYERS_BYTES - 1);
		options->layers = side.layers;
	}
}

/* Reads what the environment says of the run's file. */
static bool side_read_environment(void)
{
	const char *path = secure_getenv("DWELL_TRACE"), *spill = secure_getenv("DWELL_SPILL");
	const char *slash = path ? strrchr(path, '/') : NULL;
	size_t length = slash ? strlen(slash + 1) : 0;
	struct utsname system;

	if (!slash || !side_parse_run_id(secure_getenv("DWELL_RUN")))
		return false;
	if (length > 6 && strcmp(slash + 1 + length - 6, ".dwell") == 0)
		length -= 6;
	side_append(side.name, sizeof side.name, slash + 1, length);
	side_append(side.folders[0], sizeof side.folders[0], path, (size_t)(slash - path));
	side_append(side.folders[1], sizeof side.folders[1], spill ? spill : "", spill ? strlen(spill) : 0);
	side_append(side.folders[2], sizeof side.folders[2], "/tmp", 4);
	if (dw_call(SYS_uname, &system) == 0)
		side_append(side.host, sizeof side.host, system.nodename, strlen(system.nodename));
	return true;
}

bool dw_side_begin(const struct dw_head *run)
{
	struct dw_head *head;
	long memory;

	side.options = (struct dwell_options)DWELL_OPTIONS_INIT;
	if (!side_read_environment())
		return false;
	if (run)
		side_copy_options(run);
	memory = dw_call(SYS_mmap, NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (dw_system_failed(memory))
		return false;
	head = (struct dw_head *)memory;
	dw_file_fill_head(head, &side.options, side.run_id);
	return dw_session_await(head);
}

/* NAME.HOST.PID.RANDOM.dwell */
static int side_create(const char *folder, const struct dw_head *awaited, char path[4096])
{
	uint32_t tag = 0;

	dw_call(SYS_getrandom, &tag, sizeof tag, 0);
	*path = '\0';
	side_append(path, 4096, folder, strlen(folder));
	side_append(path, 4096, "/", 1);
	side_append(path, 4096, side.name, strlen(side.name));
	side_append(path, 4096, ".", 1);
	side_append(path, 4096, *side.host ? side.host : "host", *side.host ? strlen(side.host) : 4);
	side_append(path, 4096, ".", 1);
	side_append_number(path, 4096, (uint32_t)dw_getpid(), 10, 1);
	side_append(path, 4096, ".", 1);
	side_append_number(path, 4096, tag, 16, 8);
	side_append(path, 4096, ".dwell", 6);
	return dw_file_create_like(path, awaited, &side.options);
}

bool dw_side_is_ready(void)
{
	static char path[4096]; /* under the process's lock */
	bool made = !dw_session.awaits;

	for (unsigned i = 0; i < FOLDERS && !made; i++) {
		int fd = *side.folders[i] ? side_create(side.folders[i], dw_session_map(), path) : -1;

		made = fd >= 0 && dw_session_move(fd, path);
	}
	if (!made) { /* there is nowhere to record to */
		dw_session.awaits = false;
		dw_session_abandon();
	}
	return made;
}
