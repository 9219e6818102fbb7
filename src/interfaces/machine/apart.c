/* Processes below `dwell run` that are not in the trace; see apart.h. */
#include "machine/apart.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/proc.h"
#include "base/text.h"
#include "dwell/probe.h"
#include "format/keys.h"
#include "machine/apart_reason.h"
#include "say/say.h"

#define APART_CPU_NS 20000000u       /* of a program in a process, from which on it is looked at */
#define APART_PLACES 1024u /* entries of the table of processes; of two processes in one entry only the later one is looked at */
#define APART_PROGRAMS 64u           /* by name and reason */
#define APART_NAMED 6u               /* of these, in the text */
#define APART_SHORT_NS 100000000u    /* what processes that were not seen used together: less is not said, */
#define APART_SHORT_SHARE 20u        /* nor less than one part in this many */
#define APART_UNCOUNTED_NS 5000000u  /* a recorded process may use before the recorder is loaded and after its end */

enum apart_state { APART_SMALL, APART_ONCE, APART_IS, APART_RECORDED };

/* A program in a process. When the process executes another one, that begins anew. */
struct apart_process {
	pid_t pid;
	uint64_t birth, device, file; /* the file: of the program, 0: not known */
	uint64_t before_ns, last_ns;  /* CPU time of the process when this program was first seen, and at the last look */
	uint64_t stack, asked_ns;     /* where its stack began when its reason was asked for, and its CPU time then */
	enum apart_state state;
	bool is_program; /* which `dwell run` started */
	char name[48], reason[DW_APART_REASON_BYTES];
};

struct apart_program {
	char name[48], reason[DW_APART_REASON_BYTES];
	unsigned count;
	uint64_t cpu_ns;
};

static struct {
	struct apart_process *processes; /* NULL: none is looked at */
	struct apart_program programs[APART_PROGRAMS];
	uint64_t cpu_ns;      /* of all programs */
	uint64_t program_ns;  /* of the program that `dwell run` started, where it records or is small */
	pid_t program;
} apart;

static uint64_t apart_own_ns(const struct apart_process *process)
{
	return process->last_ns > process->before_ns ? process->last_ns - process->before_ns : 0;
}

/* Adds what a program used to that of its name. */
static void apart_finish(const struct apart_process *process)
{
	bool is = process->state == APART_ONCE || process->state == APART_IS;

	for (size_t i = 0; is && i < APART_PROGRAMS; i++) {
		struct apart_program *program = &apart.programs[i];

		if (program->count && (strcmp(program->name, process->name) != 0 || strcmp(program->reason, process->reason) != 0))
			continue;
		memcpy(program->name, process->name, sizeof program->name);
		memcpy(program->reason, process->reason, sizeof program->reason);
		program->count++;
		program->cpu_ns += apart_own_ns(process);
		apart.cpu_ns += apart_own_ns(process);
		return;
	}
}

/* Asks what a process is that has used enough CPU time. A process that is not recorded is asked twice while it executes one
 * program: its libraries may not have been loaded yet. */
static void apart_ask(struct apart_process *process)
{
	if (process->state == APART_IS || process->state == APART_RECORDED || !dw_apart_reason(process->pid, process->reason))
		return;
	if (!*process->reason)
		process->state = APART_RECORDED;
	else if (dw_apart_name(process->pid, process->name, sizeof process->name)) {
		struct dw_proc_stat stat;

		dw_proc_read_stat((uint32_t)process->pid, 0, &stat);
		process->state = process->state == APART_SMALL || process->stack != stat.stack ? APART_ONCE : APART_IS;
		process->stack = stat.stack;
		process->asked_ns = process->last_ns;
	}
}

/* Whether another program runs in the process than at the last look. */
static bool apart_has_changed(struct apart_process *process)
{
	struct stat status;
	char path[64];
	bool changed;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)process->pid);
	if (stat(path, &status) != 0)
		return false;
	changed = process->file && (process->file != status.st_ino || process->device != status.st_dev);
	process->file = status.st_ino;
	process->device = status.st_dev;
	return changed;
}

static void apart_look_at(pid_t pid, uint64_t birth, uint64_t own_ns)
{
	struct apart_process *process = &apart.processes[(unsigned)pid % APART_PLACES];

	if (process->pid != pid || process->birth != birth) {
		apart_finish(process);
		*process = (struct apart_process){ .pid = pid, .birth = birth, .is_program = pid == apart.program };
	}
	if (own_ns >= APART_CPU_NS && apart_has_changed(process)) {
		apart_finish(process);
		process->before_ns = process->last_ns;
		process->state = APART_SMALL;
	}
	process->last_ns = own_ns > process->last_ns ? own_ns : process->last_ns;
	if (apart_own_ns(process) >= APART_CPU_NS)
		apart_ask(process);
}

void dw_apart_begin(pid_t program)
{
	apart.program = program;
	apart.processes = calloc(APART_PLACES, sizeof *apart.processes);
}

void dw_apart_look(const struct dw_processes *processes)
{
	for (size_t i = 0; apart.processes && i < processes->count; i++)
		if (processes->birth[i])
			apart_look_at(processes->at[i], processes->birth[i], processes->own_ns[i]);
}

void dw_apart_last_look(pid_t program)
{
	static struct dw_processes last;
	struct apart_process *process;

	if (!apart.processes)
		return;
	dw_processes_read(&last, program);
	process = &apart.processes[(unsigned)program % APART_PLACES];
	if (process->pid == program && process->birth == last.birth[0] && last.own_ns[0] > process->last_ns)
		process->last_ns = last.own_ns[0];
}

/* ---- the end -------------------------------------------------------------------------------- */

/* A number that a process of the trace wrote; 0: it did not. */
static uint64_t apart_read_number(const struct dw_source *source, uint32_t index, const char *key)
{
	const char *value = dw_source_meta(source, index, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* The CPU time that it wrote at its end. */
static uint64_t apart_read_written(const struct dw_source *source, uint32_t index)
{
	return apart_read_number(source, index, DW_KEY_PROCESS_CPU_NS);
}

/* Whether this is the last program of the trace that was executed in its process. */
static bool apart_is_last(const struct dw_source *source, uint32_t index)
{
	for (size_t i = 0; i < source->process_count; i++)
		if (i != index && source->processes[i].pid == source->processes[index].pid &&
		    source->processes[i].start_ns > source->processes[index].start_ns)
			return false;
	return true;
}

/* What was seen of a process from when the recorder was loaded into it; 0: nothing. */
static uint64_t apart_seen_ns(const struct dw_source *source, uint32_t index)
{
	const struct dw_source_process *process = &source->processes[index];
	const struct apart_process *seen = &apart.processes[process->pid % APART_PLACES];
	uint64_t loaded_ns = apart_read_number(source, index, DW_KEY_LOADED_CPU_NS), ns;

	if (seen->pid != (pid_t)process->pid)
		return 0;
	loaded_ns = loaded_ns > seen->before_ns ? loaded_ns : seen->before_ns;
	ns = seen->last_ns;
	return ns > loaded_ns ? ns - loaded_ns : 0;
}

/* Stores what processes used that did not say it: they were killed. Of the program itself it is all, of others what they had
 * used when they were looked at last. */
static void apart_note_killed(const struct dw_source *source)
{
	char key[64], text[24];

	for (uint32_t i = 0; source && apart.processes && i < source->process_count; i++) {
		const struct dw_source_process *process = &source->processes[i];
		bool may = !(process->flags & DW_PROCESS_RUNNER) && !process->alive && apart_is_last(source, i);
		uint64_t ns = may && !apart_read_written(source, i) ? apart_seen_ns(source, i) : 0;

		if (ns < APART_CPU_NS)
			continue;
		snprintf(key, sizeof key, DW_KEY_PROCESS_CPU_NS ".%u", process->pid);
		snprintf(text, sizeof text, "%llu", (unsigned long long)ns);
		dwell_meta_json(key, text);
	}
}

/* What processes used that were neither recorded nor seen. 0: also if a recorded process did not say what it used. */
static uint64_t apart_count_short(const struct dw_source *source, uint64_t cpu_ns)
{
	uint64_t known_ns = apart.cpu_ns + apart.program_ns;

	for (size_t i = 0; source && i < source->process_count; i++) {
		const struct dw_source_process *process = &source->processes[i];
		uint64_t own_ns = apart_read_written(source, (uint32_t)i);

		if (process->flags & DW_PROCESS_RUNNER || (pid_t)process->pid == apart.program)
			continue;
		if (!own_ns)
			return 0;
		known_ns += own_ns + APART_UNCOUNTED_NS;
	}
	return source && cpu_ns > known_ns && cpu_ns - known_ns >= APART_SHORT_NS && cpu_ns - known_ns >= cpu_ns / APART_SHORT_SHARE
	           ? cpu_ns - known_ns : 0;
}

static int apart_compare(const void *left, const void *right)
{
	const struct apart_program *a = left, *b = right;

	return a->cpu_ns != b->cpu_ns ? (a->cpu_ns < b->cpu_ns ? 1 : -1) : strcmp(a->name, b->name);
}

static size_t apart_write(char *text, size_t size, uint64_t short_ns)
{
	size_t length = 0, count = 0;
	uint64_t others_ns = 0;

	qsort(apart.programs, APART_PROGRAMS, sizeof *apart.programs, apart_compare);
	for (const struct apart_program *program = apart.programs; count < APART_PROGRAMS && program->count; program++, count++)
		if (count < APART_NAMED)
			length +=
				(size_t)snprintf(text + length, size - length, "%s%s (%u process%s, %s of CPU time): %s",
			                     length ? "; " : "", program->name, program->count, program->count == 1 ? "" : "es",
			                     dw_text_ns((double)program->cpu_ns, " ").at, program->reason);
		else
			others_ns += program->cpu_ns;
	if (others_ns)
		length += (size_t)snprintf(text + length, size - length, "; %zu other programs (%s of CPU time)", count - APART_NAMED,
		                           dw_text_ns((double)others_ns, " ").at);
	if (short_ns)
		length += (size_t)snprintf(text + length, size - length, "%sprocesses too short to be seen (%s of CPU time)",
		                           length ? "; " : "", dw_text_ns((double)short_ns, " ").at);
	return length;
}

/* Whether a program that was executed in the process later is recorded: then it was seen without a library of dwell while it
 * executed that. */
static bool apart_is_recorded(const struct dw_source *source, const struct apart_process *process)
{
	for (uint32_t i = 0; source && i < source->process_count; i++)
		if ((pid_t)source->processes[i].pid == process->pid && !(source->processes[i].flags & DW_PROCESS_RUNNER) &&
		    apart_read_number(source, i, DW_KEY_LOADED_CPU_NS) >= process->asked_ns)
			return true;
	return false;
}

void dw_apart_note(const struct dw_source *source, uint64_t cpu_ns, bool named)
{
	static char text[8192];
	uint64_t unnamed_ns = 0;

	if (!apart.processes) /* nobody looked: nothing of dwell was to be loaded into the program */
		return;
	apart_note_killed(source);
	for (size_t i = 0; i < APART_PLACES; i++) {
		struct apart_process *process = &apart.processes[i];

		if (process->state == APART_ONCE && apart_is_recorded(source, process))
			process->state = APART_RECORDED;
		if (process->is_program && (process->state == APART_RECORDED || process->state == APART_SMALL))
			apart.program_ns += apart_own_ns(process);
		if (process->is_program && named)
			unnamed_ns += apart_own_ns(process);
		else
			apart_finish(process);
	}
	free(apart.processes);
	apart.processes = NULL;
	apart.cpu_ns += unnamed_ns;
	if (!apart_write(text, sizeof text, apart_count_short(source, cpu_ns)))
		return;
	dw_say("not recorded: %s", text);
	dwell_meta(DW_KEY_APART, text);
}
