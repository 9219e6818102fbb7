/*
 * Looks at threads as records: SAMPLE for use of the CPU, WAIT for time off it.
 *
 * The kernel counts what a thread uses between two looks; the look says where it is. Its CPU time belongs to the next
 * stack with which it is seen on a CPU, its time off the CPU to the next one with which it is seen waiting. So the
 * sums are exact, and only their division is sampled. What remains at the end has no stack.
 */
#include "attach/attach_trace.h"

#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/system/clock.h"
#include "base/system/host.h"
#include "base/system/limits.h"
#include "format/keys.h"

#define ATTACH_FRAMES 512u          /* most frames of a stack; of a deeper one the inner ones are kept */
#define ATTACH_FLUSH_NS 100000000u  /* a wait that goes on is written so often */

struct dw_attach_thread {
	uint32_t tid, id;
	struct dw_encode_stream stream;
	uint64_t cpu_ns, wait_ns;  /* not written yet */
	uint64_t seen_ns;
	/* The wait that goes on. */
	uint32_t frame, stack, holder;
	uint64_t open_ns, begun_ns;
};

/* ---- names ------------------------------------------------------------------------------------- */

static uint32_t attach_module(struct dw_attach_process *process, const char *name)
{
	struct dw_attach_module *module;
	struct dw_entry_module *entry;
	uint32_t path;

	for (size_t i = 0; i < process->module_count; i++)
		if (strcmp(process->modules[i].name, name) == 0)
			return process->modules[i].id;
	module = DW_GROW(&process->modules, &process->module_capacity, process->module_count);
	if (!module) {
		process->no_memory = true;
		return 0;
	}
	module->name = strdup(name);
	module->id = dw_encode_new_id(process->journal.encode);
	path = dw_encode_string(&process->journal, name);
	entry = dw_encode_entry(&process->journal, DW_ENTRY_MODULE, module->id, 1, sizeof *entry);
	if (!entry || !module->name) {
		free((char *)(uintptr_t)module->name);
		process->no_memory |= entry != NULL;
		return 0;
	}
	entry->path = path;
	process->module_count++;
	return module->id;
}

static void attach_symbol(struct dw_attach_process *process, uint32_t frame, uint32_t nesting,
                          const struct dw_process_frame *function)
{
	uint32_t name = dw_encode_string(&process->journal, function->function);
	uint32_t file = dw_encode_string(&process->journal, function->file);
	struct dw_entry_symbol *entry = dw_encode_entry(&process->journal, DW_ENTRY_SYMBOL, frame, nesting, sizeof *entry);

	if (!entry)
		return;
	entry->function = name;
	entry->file = file;
	entry->line = (uint32_t)function->line;
}

/* The FRAME of a name, with the module and the line of `at`. */
static uint32_t attach_new_frame(struct dw_attach_process *process, const char *name, const struct dw_process_frame *at)
{
	uint32_t id = dw_encode_new_id(process->journal.encode), function = dw_encode_string(&process->journal, name);
	uint32_t file = at ? dw_encode_string(&process->journal, at->file) : 0;
	uint32_t module = at && at->module ? attach_module(process, at->module) : 0;
	struct dw_entry_frame *entry = dw_encode_entry(&process->journal, DW_ENTRY_FRAME, id, module, sizeof *entry);

	if (!entry)
		return 0;
	entry->function = function;
	entry->file = file;
	entry->line = at ? (uint32_t)at->line : 0;
	return id;
}

static uint32_t attach_frame(struct dw_attach_process *process, const struct dw_place *place)
{
	const struct dw_process_frame *outer = &place->functions[place->count - 1];
	struct dw_place *owned = (struct dw_place *)(uintptr_t)place;

	if (owned->id)
		return owned->id;
	if (place->made) {
		/* Its name is known at the end. */
		owned->id = attach_new_frame(process, "[jit]", NULL);
		process->no_memory |= !DW_APPEND(&process->made, &process->made_capacity, &process->made_count,
		                                 (struct dw_attach_made){ owned->id, place->made });
		return owned->id;
	}
	owned->id = attach_new_frame(process, outer->function, outer);
	for (uint32_t i = 0; place->count > 1 && owned->id && i < place->count; i++)
		attach_symbol(process, owned->id, place->count - 1 - i, &place->functions[i]);
	return owned->id;
}

void dw_attach_name(struct dw_attach_process *process, const struct dw_attach_made *made, const char *name)
{
	attach_symbol(process, made->id, 0, &(struct dw_process_frame){ .function = name });
}

/* The STACK of these frames; 0: there are none. */
static uint32_t attach_stack(struct dw_attach_process *process, const struct dw_place *const *places, size_t places_count)
{
	uint32_t frames[ATTACH_FRAMES], count = 0, hash, at;
	struct dw_attach_stack *stack;
	struct dw_entry_stack *entry;

	for (size_t i = 0; i < places_count && count < ATTACH_FRAMES; i++)
		frames[count++] = attach_frame(process, places[i]);
	if (!count)
		return 0;
	hash = dw_map_hash_bytes(0, frames, count * sizeof *frames);
	at = DW_MAP_FIND(&process->by_frames, hash, i, process->stacks[i].count == count &&
	                 memcmp(process->stacks[i].frames, frames, count * sizeof *frames) == 0);
	if (at != DW_MAP_NONE)
		return process->stacks[at].id;
	stack = DW_GROW(&process->stacks, &process->stack_capacity, process->stack_count);
	if (!stack || !(stack->frames = malloc(count * sizeof *frames)) ||
	    !dw_map_add(&process->by_frames, hash, (uint32_t)process->stack_count)) {
		process->no_memory = true;
		return 0;
	}
	memcpy(stack->frames, frames, count * sizeof *frames);
	stack->count = count;
	process->stack_count++;
	stack->id = dw_encode_new_id(process->journal.encode);
	entry = dw_encode_entry(&process->journal, DW_ENTRY_STACK, stack->id, count, sizeof *entry + count * sizeof *frames);
	if (entry)
		memcpy(entry->frames, frames, count * sizeof *frames);
	return stack->id;
}

size_t dw_attach_wait_frame(const struct dw_place *const *places, size_t count)
{
	size_t i = 0;

	while (i < count && places[i]->library)
		i++;
	return i;
}

/* ---- records ----------------------------------------------------------------------------------- */

static void attach_put_sample(struct dw_attach_thread *thread, uint64_t ns, uint32_t frame, uint32_t stack)
{
	uint32_t words[DW_SAMPLE_WORDS] = { (uint32_t)ns, (uint32_t)(ns >> 32), frame, stack,
		                                (uint32_t)(thread->cpu_ns / DW_ATTACH_PERIOD_NS) };

	if (!words[4])
		return;
	thread->cpu_ns %= DW_ATTACH_PERIOD_NS;
	dw_encode_record(&thread->stream, ns, DW_EXT, DW_EXT_SAMPLE << DW_EXT_TYPE_SHIFT | DW_SAMPLE_WORDS, words,
	                 DW_SAMPLE_WORDS);
}

/* Writes the wait that goes on, which was seen last at seen_ns. */
static void attach_flush_wait(struct dw_attach_thread *thread)
{
	uint64_t ns = thread->seen_ns;
	uint32_t words[DW_WAIT_WORDS] = { (uint32_t)ns, (uint32_t)(ns >> 32), thread->frame, thread->stack,
		                              (uint32_t)(thread->open_ns / DW_ATTACH_PERIOD_NS), thread->holder };

	if (words[4])
		dw_encode_record(&thread->stream, ns, DW_EXT, DW_EXT_WAIT << DW_EXT_TYPE_SHIFT | DW_WAIT_WORDS, words, DW_WAIT_WORDS);
	thread->open_ns %= DW_ATTACH_PERIOD_NS;
	thread->begun_ns = ns;
}

/* The name by which programs know a function of the C library: "poll" of "__GI___poll", and without a version. */
static void attach_write_plain(char *to, size_t size, const char *function)
{
	const char *name = function + strspn(function, "_");

	if (strncmp(name, "GI_", 3) == 0)
		name += 3 + strspn(name + 3, "_");
	snprintf(to, size, "%s", *name ? name : function);
	to[strcspn(to, "@")] = '\0';
}

/* The FRAME of a wait: the function of the C library, or without one the system call. */
static uint32_t attach_wait_frame(struct dw_attach_process *process, const struct dw_place *place, const char *wait)
{
	const void *key = place ? (const void *)place : (const void *)wait;
	const struct dw_process_frame *outer = place ? &place->functions[place->count - 1] : NULL;
	size_t i = 0;
	char name[256];

	while (i < process->wait_count && process->waits[i].key != key)
		i++;
	if (i < process->wait_count)
		return process->waits[i].id;
	if (process->wait_count == DW_ATTACH_WAITS)
		return place ? attach_frame(process, place) : 0;
	if (outer)
		attach_write_plain(name, sizeof name, outer->function);
	else
		snprintf(name, sizeof name, "(waits for %s)", wait ? wait : "the kernel");
	process->waits[i].key = key;
	process->waits[i].id = attach_new_frame(process, name, outer);
	return process->waits[process->wait_count++].id;
}

static void attach_add_wait(struct dw_attach_process *process, struct dw_attach_thread *thread,
                            const struct dw_follow_look *look)
{
	if (!look->same) {
		size_t at = dw_attach_wait_frame(look->places, look->count);
		uint32_t frame, stack = attach_stack(process, look->places + at, look->count - at);

		frame = attach_wait_frame(process, at ? look->places[at - 1] : NULL, look->wait);
		if (frame != thread->frame || stack != thread->stack || look->holder != thread->holder) {
			attach_flush_wait(thread);
			thread->open_ns = 0;
		}
		thread->frame = frame;
		thread->stack = stack;
		thread->holder = look->holder;
	}
	thread->open_ns += thread->wait_ns;
	thread->wait_ns = 0;
	thread->seen_ns = look->now_ns;
	if (look->now_ns - thread->begun_ns >= ATTACH_FLUSH_NS)
		attach_flush_wait(thread);
}

static struct dw_attach_thread *attach_thread(struct dw_attach_process *process, const struct dw_follow_look *look)
{
	uint32_t hash = dw_map_hash(look->tid);
	uint32_t at = DW_MAP_FIND(&process->by_tid, hash, i, process->threads[i]->tid == look->tid);
	struct dw_attach_thread *thread;

	if (at != DW_MAP_NONE)
		return process->threads[at];
	thread = calloc(1, sizeof *thread);
	if (!thread || !DW_GROW(&process->threads, &process->thread_capacity, process->thread_count) ||
	    !dw_map_add(&process->by_tid, hash, (uint32_t)process->thread_count)) {
		free(thread);
		process->no_memory = true;
		return NULL;
	}
	process->threads[process->thread_count++] = thread;
	thread->tid = look->tid;
	thread->begun_ns = thread->seen_ns = look->now_ns;
	thread->id = dw_encode_thread(&process->journal, look->tid, ++process->streams, look->since_ns, look->name);
	dw_encode_stream_init(&thread->stream, &process->journal, process->streams, thread->id);
	return thread;
}

void dw_attach_add(struct dw_attach_process *process, const struct dw_follow_look *look)
{
	struct dw_attach_thread *thread = attach_thread(process, look);
	uint64_t passed_ns = look->now_ns - look->since_ns, used_ns = look->cpu_ns + look->ready_ns;

	if (!thread)
		return;
	thread->cpu_ns += look->cpu_ns;
	thread->wait_ns += passed_ns > used_ns ? passed_ns - used_ns : 0;
	process->looks += look->seen;
	process->stops += look->stopped_ns != 0;
	process->stopped_ns += look->stopped_ns;
	if (look->stopped_ns > process->longest_stop_ns)
		process->longest_stop_ns = look->stopped_ns;
	if (look->seen && look->waits) {
		attach_add_wait(process, thread, look);
	} else if (look->seen) {
		uint32_t frame = look->count ? attach_frame(process, look->places[0]) : 0;
		uint32_t stack = look->count ? attach_stack(process, look->places + 1, look->count - 1) : 0;

		attach_flush_wait(thread);
		thread->seen_ns = look->now_ns;
		attach_put_sample(thread, look->now_ns, frame, stack);
	}
}

/* ---- the process ------------------------------------------------------------------------------- */

void dw_attach_meta(struct dw_attach_process *process, const char *key, const char *value, bool json)
{
	uint32_t key_id = dw_encode_string(&process->journal, key), value_id = dw_encode_string(&process->journal, value);
	struct dw_entry_meta *entry = dw_encode_entry(&process->journal, DW_ENTRY_META, key_id, value_id, sizeof *entry);

	if (entry)
		entry->flags = json ? DW_META_JSON : 0;
}

void dw_attach_head(struct dw_encode *encode)
{
	struct dw_head *head = dw_encode_head(encode);

	if (getrandom(head->run_id, sizeof head->run_id, 0) != sizeof head->run_id)
		head->run_id[0] = 1;
	dw_host_boot_id(head->boot_id);
	gethostname(head->hostname, sizeof head->hostname - 1);
	head->start_ticks = head->start_monotonic_ns = dw_clock_ns(CLOCK_MONOTONIC);
	head->start_realtime_ns = dw_clock_ns(CLOCK_REALTIME);
	head->time_namespace = dw_host_namespace("time");
}

void dw_attach_begin(struct dw_attach_process *process, struct dw_encode *encode, const struct dw_attach_about *about)
{
	struct dw_entry_process *entry;
	uint32_t path, command;
	char text[32];

	memset(process, 0, sizeof *process);
	dw_encode_process_init(&process->journal, encode, about->parent_entry);
	path = dw_encode_string(&process->journal, about->path);
	command = dw_encode_string(&process->journal, about->command);
	entry = dw_encode_process_entry(&process->journal);
	if (!entry)
		return;
	entry->pid = about->pid;
	entry->ppid = about->parent;
	entry->start_ticks = dw_clock_ns(CLOCK_MONOTONIC);
	entry->flags = about->python ? DW_PROCESS_PYTHON : 0;
	entry->name = path;
	entry->command = command;
	snprintf(text, sizeof text, "%u", DW_ATTACH_PERIOD_NS);
	dw_attach_meta(process, DW_KEY_SAMPLE_PERIOD_NS, text, true);
	dw_attach_meta(process, DW_KEY_SAMPLE_METHOD, "looks from outside, weighed by the kernel's account of each thread", false);
	snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	dw_attach_meta(process, "host.cpus", text, true);
	snprintf(text, sizeof text, "%u", dw_limits_cpus());
	dw_attach_meta(process, DW_KEY_CPUS_ALLOWED, text, true);
}

void dw_attach_end(struct dw_attach_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		struct dw_attach_thread *thread = process->threads[i];

		attach_flush_wait(thread);
		attach_put_sample(thread, thread->seen_ns, 0, 0);
		dw_encode_close(&thread->stream);
	}
}

void dw_attach_reset(struct dw_attach_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		free(process->threads[i]);
	for (size_t i = 0; i < process->stack_count; i++)
		free(process->stacks[i].frames);
	for (size_t i = 0; i < process->module_count; i++)
		free((char *)(uintptr_t)process->modules[i].name);
	DW_FREE(process->threads, process->stacks, process->modules, process->made);
	dw_map_reset(&process->by_tid);
	dw_map_reset(&process->by_frames);
	memset(process, 0, sizeof *process);
}
