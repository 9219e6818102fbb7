/*
 * mktrace: a trace out of a few lines of text, with an injected clock.
 *
 *     mktrace IN.txt OUT.dwell        ("-" reads standard input)
 *
 * For golden and unit tests. The clock is CLOCK_MONOTONIC with 1 tick = 1 ns
 * starting at 0, so that every duration in a test is known to the nanosecond.
 * A line is one command; # starts a comment; words with blanks stand in "quotes";
 * times are 12ns 3us 1.5ms 2s (no unit: ns).
 *
 *   head real=TIME host=NAME run=N keep=oldest|newest|both   facts of the file
 *   process N pid=P [ppid=] [name=] [command=] [job=] [rank=] [local_rank=]
 *             [world=] [parent=N] [start=TIME] [python] [runner]
 *   thread N process=N tid=T [name=] [start=TIME] [stream=NUMBER]   NUMBER: from 0 in its
 *                                    process, of a stream that another thread handed on
 *   stream N thread=N [nested]       makes a stream and writes to it from here on
 *   use N                            back to stream N
 *
 * Records of the current stream. Each may begin with `at TIME` (absolute) or
 * `+TIME` (after the stream's last record); without, the time stays.
 *   [at T] begin CATEGORY NAME [shapes=2x3:float32,7:int64] [detail=D] [file=F:LINE]
 *   name CATEGORY NAME [detail=D]    puts it into the dictionary; records nothing
 *   end | end-of N | end-named CATEGORY NAME | by-name | mark NAME | counter NAME VALUE [detail=UNIT]
 *   alloc CATEGORY DEVICE ADDRESS BYTES | free CATEGORY DEVICE ADDRESS | alloc-is CATEGORY ADDRESS
 *   alloc-failed CATEGORY DEVICE BYTES USED LIMIT
 *   async-begin NAME HANDLE [detail=D] | async-end NAME HANDLE [detail=D] | flow-out NAME HANDLE | flow-in NAME HANDLE
 *   tokens NAME HANDLE COUNT         of a request, whose ranges are asynchronous, with the details "request" and "stage"
 *   answered NAME HANDLE BEGIN FIRST LAST SENDS   a request that came over a connection: its times, and the sends of its answer
 *   link SEQUENCE [FORWARD-THREAD] | args TEXT | loss CAUSE COUNT
 *   stack FRAME...                   of the range just begun: innermost first, each FUNCTION,
 *                                    FUNCTION@FILE:LINE or FUNCTION@LIBRARY
 *   sample WEIGHT [FRAME...]         the thread is found here; frames as above
 *   heap BYTES [FRAME...]            a block of malloc is recorded, at a new address; frames as above
 *   heap-free N                      the N-th of these is freed, counted from the last one = 0
 *   switch N                         the stream goes to thread N (a DW_THREAD record)
 *   skip                             nothing: only moves the time
 *   step-begin | step-end [cpu=TIME] [delay=TIME] [unrecorded] [reduced] [brief]   counts steps by process; with a delay, the
 *                                    kernel's account says that the thread had no CPU for that long
 *
 * Entries and the shape of the file.
 *   step NUMBER START END CPU [thread=N] [unrecorded] [reduced] [brief]   END "-": still open
 *   profile NAME CYCLE START END [thread=N]             the same
 *   meta KEY VALUE | meta-json KEY VALUE | rename N NAME (a thread)
 *   clock TICKS [mono=TIME] [real=TIME] [error=TIME]
 *   lost CAUSE COUNT [thread=N]      without a thread: in the head
 *   gap N                            N chunks were recycled here
 *   close                            ends the chunk; the next record opens one
 *   kill                             the current stream's chunk stays open, as after SIGKILL
 *   hole BYTES                       reserved and not written, in the journal
 *   truncate BYTES                   cuts the file; negative: that much off the end
 *   repeat N ... done                N times; may be nested
 *
 *   correlation N | external N       the innermost range is the call that device events name
 *
 * Devices and their events: see mktrace_device.h.
 *
 * Chunks are closed at the end, except after `kill`. `meta`, `clock` and
 * `hole` go to the process of the current stream (else the last process).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode_records.h"

#define MAX_ITEMS 256
#define MAX_WORDS 24
#define MAX_OPS 4096

struct op {
	struct dw_encode_process *process;
	uint32_t category, id;
	char key[512];
};

static struct dw_encode encode;
static struct dw_encode_process processes[MAX_ITEMS];
static uint64_t next_step[MAX_ITEMS];
static struct { uint32_t id, process; } threads[MAX_ITEMS];
static struct {
	struct dw_encode_stream stream;
	uint64_t now, step_start;
	unsigned process, thread;
	bool killed, used;
} streams[MAX_ITEMS];
static unsigned current, last_process, stream_numbers[MAX_ITEMS];
static struct op ops[MAX_OPS];
static unsigned op_count;
static int64_t truncate_at = INT64_MAX;
static const char *in_name;
static unsigned line_number;

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "mktrace: %s:%u: ", in_name, line_number);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* ---- words ------------------------------------------------------------------ */

struct line {
	char *words[MAX_WORDS];
	unsigned count;
};

static void split(char *text, struct line *line)
{
	line->count = 0;
	for (;;) {
		char *to, quote = 0;

		text += strspn(text, " \t\r\n");
		if (!*text || *text == '#')
			return;
		if (line->count == MAX_WORDS)
			fail("more than %d words", MAX_WORDS);
		line->words[line->count++] = to = text;
		for (; *text && (quote || !strchr(" \t\r\n", *text)); text++) {
			if (*text == '"')
				quote = !quote;
			else
				*to++ = *text;
		}
		if (*text)
			text++;
		*to = '\0';
	}
}

static const char *word(const struct line *line, unsigned index)
{
	if (index >= line->count)
		fail("'%s' wants more words", line->words[0]);
	return line->words[index];
}

/* The value of key=value, or NULL; a bare key gives "". */
static const char *option(const struct line *line, const char *key)
{
	size_t length = strlen(key);

	for (unsigned i = 1; i < line->count; i++) {
		if (strncmp(line->words[i], key, length) != 0)
			continue;
		if (line->words[i][length] == '=')
			return line->words[i] + length + 1;
		if (!line->words[i][length])
			return "";
	}
	return NULL;
}

static uint64_t number_of(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || end == text)
		fail("'%s' is no number", text);
	return value;
}

static uint64_t number_option(const struct line *line, const char *key, uint64_t otherwise)
{
	const char *text = option(line, key);

	return text ? number_of(text) : otherwise;
}

static uint64_t time_of(const char *text)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }
	};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].unit) == 0)
			return (uint64_t)(value * units[i].ns + 0.5);
	fail("'%s' is no time (like 1.5ms)", text);
}

static uint64_t time_option(const struct line *line, const char *key, uint64_t otherwise)
{
	const char *text = option(line, key);

	return text ? time_of(text) : otherwise;
}

static unsigned index_of(const char *text)
{
	uint64_t value = number_of(text);

	if (value >= MAX_ITEMS)
		fail("numbers go up to %d", MAX_ITEMS - 1);
	return (unsigned)value;
}

static struct dw_encode_process *process_at(unsigned index)
{
	if (!processes[index].encode)
		fail("no process %u", index);
	return &processes[index];
}

static uint32_t thread_at(unsigned index)
{
	if (!threads[index].id)
		fail("no thread %u", index);
	return threads[index].id;
}

static struct dw_encode_process *here(void)
{
	return process_at(streams[current].used ? streams[current].process : last_process);
}

/* ---- names ------------------------------------------------------------------ */

static uint32_t category_of(const char *text)
{
#define X(name, value, label)        \
	if (strcmp(text, label) == 0)    \
		return value;
	DWELL_CATEGORIES(X)
#undef X
	return (uint32_t)number_of(text); /* a category of a later version */
}

static uint8_t dtype_of(const char *text)
{
	static const char *const names[] = { "uint8", "int8", "int16", "int32", "int64", "float16",
		"float32", "float64", "complex32", "complex64", "complex128", "bool", "", "", "",
		"bfloat16" };

	for (uint8_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return strcmp(text, "ints") == 0 ? DWELL_ARG_INTS : DWELL_DTYPE_NONE;
}

/* 2x3:float32,7:int64; a scalar is ":float32" */
static uint32_t shapes_of(struct dw_encode_process *process, const char *text)
{
	struct dwell_tensor tensors[16];
	int64_t sizes[16][16];
	char copy[512], *rest = copy, *item;
	uint32_t count = 0;

	if (!text)
		return 0;
	snprintf(copy, sizeof copy, "%s", text);
	while ((item = strsep(&rest, ",")) && count < 16) {
		char *type = strchr(item, ':'), *size;

		if (type)
			*type++ = '\0';
		tensors[count] = (struct dwell_tensor){ sizes[count], 0, dtype_of(type ? type : "float32") };
		while (*item && (size = strsep(&item, "x")) && tensors[count].dimensions < 16) {
			sizes[count][tensors[count].dimensions++] = (int64_t)number_of(size);
			if (!item)
				break;
		}
		count++;
	}
	return dw_encode_shapes(process, tensors, count);
}

/* As the recorder interns: the same words in one process are one id. */
static uint32_t op_of(const struct line *line, uint32_t category, const char *name,
                      const char *detail)
{
	struct dw_encode_process *process = here();
	const char *shapes = option(line, "shapes"), *file = option(line, "file");
	char key[512], path[256] = "";
	uint32_t source_line = 0;

	snprintf(key, sizeof key, "%s|%s|%s|%s", name, detail ? detail : "", shapes ? shapes : "",
	         file ? file : "");
	for (unsigned i = 0; i < op_count; i++)
		if (ops[i].process == process && ops[i].category == category && !strcmp(ops[i].key, key))
			return ops[i].id;
	if (op_count == MAX_OPS)
		fail("more than %d names", MAX_OPS);
	if (file) {
		const char *colon = strrchr(file, ':');

		snprintf(path, sizeof path, "%.*s", colon ? (int)(colon - file) : 255, file);
		source_line = colon ? (uint32_t)number_of(colon + 1) : 0;
	}
	ops[op_count].process = process;
	ops[op_count].category = category;
	snprintf(ops[op_count].key, sizeof ops[op_count].key, "%s", key);
	ops[op_count].id = dw_encode_op(process, category, name, detail, shapes_of(process, shapes),
	                                file ? path : NULL, source_line);
	return ops[op_count++].id;
}

static unsigned cause_of(const char *text)
{
	static const char *const labels[] = {
#define X(name, label, text) label,
		DW_LOSS_CAUSES(X)
#undef X
	};

	for (unsigned i = 0; i < DW_LOSS_COUNT; i++)
		if (strcmp(text, labels[i]) == 0)
			return i;
	fail("no cause '%s' of losses", text);
}

/* ---- commands that make things ------------------------------------------------ */

static void do_head(const struct line *line)
{
	struct dw_head *head = dw_encode_head(&encode);
	const char *host = option(line, "host"), *keep = option(line, "keep");

	head->start_realtime_ns = time_option(line, "real", head->start_realtime_ns);
	memset(head->run_id, (int)number_option(line, "run", head->run_id[0]), sizeof head->run_id);
	if (host)
		snprintf(head->hostname, sizeof head->hostname, "%s", host);
	if (keep)
		head->keep = !strcmp(keep, "oldest")   ? DW_KEEP_OLDEST
		             : !strcmp(keep, "newest") ? DW_KEEP_NEWEST
		                                       : DW_KEEP_BOTH;
}

static void do_process(const struct line *line)
{
	unsigned index = index_of(word(line, 1));
	struct dw_encode_process *process = &processes[index];
	const char *parent = option(line, "parent");
	struct dw_entry_process *entry =
	    dw_encode_process_init(process, &encode, parent ? process_at(index_of(parent))->id : 0);
	uint32_t name = dw_encode_string(process, option(line, "name"));
	uint32_t command = dw_encode_string(process, option(line, "command"));
	uint32_t job = dw_encode_string(process, option(line, "job"));

	entry = dw_encode_process_entry(process);
	if (!entry)
		fail("out of memory");
	entry->pid = (uint32_t)number_option(line, "pid", 0);
	entry->ppid = (uint32_t)number_option(line, "ppid", 0);
	entry->start_ticks = time_option(line, "start", 0);
	entry->rank = (int32_t)number_option(line, "rank", UINT64_MAX);
	entry->local_rank = (int32_t)number_option(line, "local_rank", UINT64_MAX);
	entry->world_size = (int32_t)number_option(line, "world", UINT64_MAX);
	entry->flags = (option(line, "python") ? DW_PROCESS_PYTHON : 0) |
	               (option(line, "runner") ? DW_PROCESS_RUNNER : 0);
	entry->name = name;
	entry->command = command;
	entry->job = job;
	last_process = index;
}

static void do_thread(const struct line *line)
{
	unsigned index = index_of(word(line, 1));
	const char *process_text = option(line, "process");
	unsigned process = process_text ? index_of(process_text) : last_process;
	const char *name = option(line, "name");

	threads[index].process = process;
	threads[index].id = dw_encode_thread(process_at(process),
	                                     (uint32_t)number_option(line, "tid", 0),
	                                     option(line, "stream")
	                                         ? (uint32_t)number_option(line, "stream", 0)
	                                         : stream_numbers[process]++,
	                                     time_option(line, "start", 0), name);
	if (name && strlen(name) > 15)
		dw_encode_thread_name(process_at(process), threads[index].id, name);
}

static void do_stream(const struct line *line)
{
	unsigned index = index_of(word(line, 1));
	const char *thread_text = option(line, "thread");
	unsigned thread = index_of(thread_text ? thread_text : word(line, 1));
	struct dw_encode_process *process;
	const struct dw_entry_thread *entry = NULL;

	thread_at(thread);
	process = process_at(threads[thread].process);
	/* the thread's entry knows its stream's number */
	for (size_t at = DW_BLOCK_BYTES; at < dw_encode_bytes(&encode); at += 8) {
		const struct dw_entry *found = (const void *)(encode.image + at);

		if (found->tag == DW_ENTRY_TAG(DW_ENTRY_THREAD) && found->id == threads[thread].id)
			entry = (const void *)found;
	}
	current = index;
	memset(&streams[index], 0, sizeof streams[index]);
	streams[index].used = true;
	streams[index].thread = thread;
	streams[index].process = threads[thread].process;
	dw_encode_stream_init(&streams[index].stream, process,
	                      (entry ? entry->stream : index) |
	                          (option(line, "nested") ? DW_STREAM_NESTED : 0),
	                      threads[thread].id);
}

static uint32_t step_flags(const struct line *line)
{
	return option(line, "brief")     ? DW_STEP_REDUCED | DWELL_STEP_BRIEF
	       : option(line, "reduced") ? DW_STEP_REDUCED : option(line, "unrecorded") ? 0 : DW_STEP_RECORDED;
}

static void do_step(const struct line *line)
{
	const char *thread = option(line, "thread"), *end = word(line, 3);
	unsigned index = thread ? index_of(thread) : streams[current].thread;

	dw_encode_step(process_at(threads[index].process), thread_at(index), number_of(word(line, 1)),
	               time_of(word(line, 2)), strcmp(end, "-") == 0 ? 0 : time_of(end),
	               time_of(word(line, 4)), step_flags(line));
}

static void do_profile(const struct line *line)
{
	const char *thread = option(line, "thread"), *end = word(line, 4);
	unsigned index = thread ? index_of(thread) : streams[current].thread;

	dw_encode_profile(process_at(threads[index].process), thread_at(index), word(line, 1),
	                  number_of(word(line, 2)), time_of(word(line, 3)),
	                  strcmp(end, "-") == 0 ? 0 : time_of(end));
}

static void do_lost(const struct line *line)
{
	unsigned cause = cause_of(word(line, 1));
	uint64_t count = number_of(word(line, 2));
	const char *thread = option(line, "thread");

	if (!thread) {
		dw_encode_head(&encode)->lost[cause] += count;
		return;
	}
	for (size_t at = DW_BLOCK_BYTES; at < dw_encode_bytes(&encode); at += 8) {
		struct dw_entry_thread *entry = (void *)(encode.image + at);

		if (entry->entry.tag == DW_ENTRY_TAG(DW_ENTRY_THREAD) &&
		    entry->entry.id == thread_at(index_of(thread)))
			entry->lost[cause] += count;
	}
}

static void do_clock(const struct line *line)
{
	uint64_t ticks = time_of(word(line, 1));

	dw_encode_clock(here(), ticks, time_option(line, "mono", ticks),
	                time_option(line, "real", dw_encode_head(&encode)->start_realtime_ns + ticks),
	                time_option(line, "error", 0));
}

#include "mktrace_device.h"

/* ---- records -------------------------------------------------------------------- */

static void put_handle(const struct line *line, enum dw_kind kind, uint32_t category)
{
	uint64_t handle = number_of(word(line, 2));

	dw_encode_record(&streams[current].stream, streams[current].now, kind,
	                 op_of(line, category, word(line, 1), option(line, "detail")), &handle, 2);
}

static void put_memory(const struct line *line, enum dw_kind kind)
{
	uint64_t payload[2] = { number_of(word(line, 3)) };

	if (kind == DW_ALLOC)
		payload[1] = number_of(word(line, 4));
	dw_encode_record(&streams[current].stream, streams[current].now, kind,
	                 op_of(line, DWELL_CATEGORY_ALLOCATION, word(line, 1), word(line, 2)), payload,
	                 kind == DW_ALLOC ? 4 : 2);
}

static void put_step_end(const struct line *line)
{
	unsigned thread = streams[current].thread;
	uint64_t cpu = time_option(line, "cpu", 0), delay = time_option(line, "delay", UINT64_MAX);
	struct dw_entry_usage *usage;

	if (delay != UINT64_MAX &&
	    (usage = dw_encode_usage(here(), thread_at(thread), streams[current].step_start, streams[current].now))) {
		usage->cpu_ns = usage->process_cpu_ns = cpu;
		usage->delay_ns = delay;
	}
	dw_encode_step(here(), thread_at(thread), next_step[threads[thread].process]++,
	               streams[current].step_start, streams[current].now, cpu,
	               step_flags(line));
}

/* The frame in a word. */
static uint32_t frame_of(char *text)
{
	char *file = strchr(text, '@'), *colon = NULL;

	if (file) {
		*file++ = '\0';
		colon = strrchr(file, ':');
	}
	if (colon)
		*colon++ = '\0';
	if (file && !colon)
		return dw_encode_frame_in(here(), file, text);
	return dw_encode_frame(here(), text, file, colon ? (uint32_t)number_of(colon) : 0);
}

/* A stack of the frames from word `first` on; 0: none. */
static uint32_t stack_of(const struct line *line, unsigned first)
{
	uint32_t frames[MAX_WORDS];

	for (unsigned i = first; i < line->count; i++)
		frames[i - first] = frame_of(line->words[i]);
	return line->count > first ? dw_encode_stack(here(), frames, line->count - first) : 0;
}

static uint64_t heap_blocks;

static bool put_record(const struct line *line)
{
	struct dw_encode_stream *stream = &streams[current].stream;
	const char *verb = line->words[0];
	uint64_t now = streams[current].now;

	if (!strcmp(verb, "begin")) {
		dw_encode_begin(stream, now, op_of(line, category_of(word(line, 1)), word(line, 2),
		                                   option(line, "detail")));
	} else if (!strcmp(verb, "name")) {
		op_of(line, category_of(word(line, 1)), word(line, 2), option(line, "detail"));
	} else if (!strcmp(verb, "end")) {
		dw_encode_end(stream, now);
	} else if (!strcmp(verb, "end-of")) {
		uint32_t n = (uint32_t)number_of(word(line, 1));
		dw_encode_record(stream, now, DW_END_OF, 0, &n, 1);
	} else if (!strcmp(verb, "end-named")) {
		uint32_t none = 0;
		dw_encode_record(stream, now, DW_END_OF, op_of(line, category_of(word(line, 1)), word(line, 2),
		                                              option(line, "detail")), &none, 1);
	} else if (!strcmp(verb, "by-name")) {
		dw_encode_record(stream, now, DW_EXT, DW_EXT_BY_NAME << DW_EXT_TYPE_SHIFT, NULL, 0);
	} else if (!strcmp(verb, "mark")) {
		dw_encode_record(stream, now, DW_MARK,
		                 op_of(line, DWELL_CATEGORY_MARK, word(line, 1), NULL), NULL, 0);
	} else if (!strcmp(verb, "counter")) {
		double value = strtod(word(line, 2), NULL);
		dw_encode_record(stream, now, DW_COUNTER,
		                 op_of(line, DWELL_CATEGORY_COUNTER, word(line, 1),
		                       option(line, "detail")), &value, 2);
	} else if (!strcmp(verb, "alloc")) {
		put_memory(line, DW_ALLOC);
	} else if (!strcmp(verb, "free")) {
		put_memory(line, DW_FREE);
	} else if (!strcmp(verb, "alloc-failed")) {
		dw_encode_alloc_failed(stream, now, op_of(line, DWELL_CATEGORY_ALLOCATION, word(line, 1), word(line, 2)),
		                       (const uint64_t[3]){ number_of(word(line, 3)), number_of(word(line, 4)), number_of(word(line, 5)) });
	} else if (!strcmp(verb, "alloc-is")) {
		dw_encode_alloc_is(stream, now,
		                   op_of(line, DWELL_CATEGORY_ALLOCATION, word(line, 1), NULL),
		                   number_of(word(line, 2)));
	} else if (!strcmp(verb, "async-begin")) {
		put_handle(line, DW_ASYNC_BEGIN, DWELL_CATEGORY_ZONE);
	} else if (!strcmp(verb, "async-end")) {
		put_handle(line, DW_ASYNC_END, DWELL_CATEGORY_ZONE);
	} else if (!strcmp(verb, "tokens")) {
		dw_encode_tokens(stream, now, op_of(line, DWELL_CATEGORY_ZONE, word(line, 1), "request"), number_of(word(line, 2)),
		                 (uint32_t)number_of(word(line, 3)));
	} else if (!strcmp(verb, "answered")) {
		dw_encode_answered(stream, now, op_of(line, DWELL_CATEGORY_ZONE, word(line, 1), "answered"), number_of(word(line, 2)),
		                   (const uint64_t[3]){ time_of(word(line, 3)), time_of(word(line, 4)), time_of(word(line, 5)) },
		                   (uint32_t)number_of(word(line, 6)));
	} else if (!strcmp(verb, "flow-out")) {
		put_handle(line, DW_FLOW_OUT, DWELL_CATEGORY_FLOW);
	} else if (!strcmp(verb, "flow-in")) {
		put_handle(line, DW_FLOW_IN, DWELL_CATEGORY_FLOW);
	} else if (!strcmp(verb, "link")) {
		uint64_t sequence = number_of(word(line, 1));
		uint32_t payload[3] = { (uint32_t)sequence, (uint32_t)(sequence >> 32),
			                    line->count > 2 ? thread_at(index_of(word(line, 2))) : 0 };
		dw_encode_record(stream, now, DW_LINK, 0, payload, 3);
	} else if (!strcmp(verb, "args")) {
		dw_encode_record(stream, now, DW_ARGS, dw_encode_string(here(), word(line, 1)), NULL, 0);
	} else if (!strcmp(verb, "stack")) {
		dw_encode_record(stream, now, DW_STACK, stack_of(line, 1), NULL, 0);
	} else if (!strcmp(verb, "sample")) {
		uint32_t weight = (uint32_t)number_of(word(line, 1));

		uint32_t frame = line->count > 2 ? frame_of(line->words[2]) : 0;

		dw_encode_sample(stream, now, frame, stack_of(line, 3), weight);
	} else if (!strcmp(verb, "heap")) {
		dw_encode_heap(stream, now, ++heap_blocks << 12, number_of(word(line, 1)),
		               op_of(line, DWELL_CATEGORY_ALLOCATION, "malloc", "cpu (malloc)"), stack_of(line, 2));
	} else if (!strcmp(verb, "heap-free")) {
		dw_encode_heap(stream, now, (heap_blocks - number_of(word(line, 1))) << 12, 0, 0, 0);
	} else if (!strcmp(verb, "loss")) {
		uint64_t count = number_of(word(line, 2));
		dw_encode_record(stream, now, DW_LOSS, cause_of(word(line, 1)), &count, 2);
	} else if (!strcmp(verb, "correlation")) {
		dw_encode_correlation(stream, (uint32_t)number_of(word(line, 1)));
	} else if (!strcmp(verb, "external")) {
		dw_encode_external(stream, now, number_of(word(line, 1)));
	} else if (!strcmp(verb, "switch")) {
		streams[current].thread = index_of(word(line, 1));
		dw_encode_record(stream, now, DW_THREAD, thread_at(streams[current].thread), NULL, 0);
	} else if (!strcmp(verb, "step-begin")) {
		streams[current].step_start = now;
	} else if (!strcmp(verb, "step-end")) {
		put_step_end(line);
	} else {
		return strcmp(verb, "skip") == 0;
	}
	return true;
}

/* ---- lines ---------------------------------------------------------------------- */

static void do_line(struct line *line)
{
	const char *verb = line->words[0];

	if (!strcmp(verb, "head")) {
		do_head(line);
	} else if (!strcmp(verb, "process")) {
		do_process(line);
	} else if (!strcmp(verb, "thread")) {
		do_thread(line);
	} else if (!strcmp(verb, "stream")) {
		do_stream(line);
	} else if (!strcmp(verb, "use")) {
		current = index_of(word(line, 1));
		if (!streams[current].used)
			fail("no stream %u", current);
	} else if (!strcmp(verb, "step")) {
		do_step(line);
	} else if (!strcmp(verb, "profile")) {
		do_profile(line);
	} else if (!strcmp(verb, "meta") || !strcmp(verb, "meta-json")) {
		dw_encode_meta(here(), word(line, 1), word(line, 2), verb[4] == '-');
	} else if (!strcmp(verb, "rename")) {
		unsigned thread = index_of(word(line, 1));
		dw_encode_thread_name(process_at(threads[thread].process), thread_at(thread), word(line, 2));
	} else if (!strcmp(verb, "clock")) {
		do_clock(line);
	} else if (!strcmp(verb, "lost")) {
		do_lost(line);
	} else if (do_device_line(line)) {
		return;
	} else if (!strcmp(verb, "hole")) {
		dw_encode_hole(here(), number_of(word(line, 1)));
	} else if (!strcmp(verb, "truncate")) {
		truncate_at = strtoll(word(line, 1), NULL, 0);
	} else if (!streams[current].used) {
		fail("'%s' needs a stream", verb);
	} else if (!strcmp(verb, "gap")) {
		dw_encode_gap(&streams[current].stream, number_of(word(line, 1)));
	} else if (!strcmp(verb, "close")) {
		dw_encode_close(&streams[current].stream);
	} else if (!strcmp(verb, "kill")) {
		streams[current].killed = true;
	} else {
		unsigned taken = 0;

		if (!strcmp(verb, "at")) {
			streams[current].now = time_of(word(line, 1));
			taken = 2;
		} else if (*verb == '+') {
			streams[current].now += time_of(verb + 1);
			taken = 1;
		}
		memmove(line->words, line->words + taken, sizeof *line->words * (line->count - taken));
		line->count -= taken;
		if (!line->count || !put_record(line))
			fail("what is '%s'?", line->count ? line->words[0] : verb);
	}
}

/* Runs the lines from `at` to the matching `done`; returns the line after it. */
static unsigned run(char **lines, unsigned count, unsigned at, bool inner)
{
	while (at < count) {
		struct line line;
		char *copy = strdup(lines[at]);

		line_number = ++at;
		if (!copy)
			fail("out of memory");
		split(copy, &line);
		if (line.count && !strcmp(line.words[0], "repeat")) {
			uint64_t times = number_of(word(&line, 1));
			unsigned after = at;

			for (uint64_t i = 0; i < times; i++)
				after = run(lines, count, at, true);
			at = after;
		} else if (line.count && !strcmp(line.words[0], "done")) {
			if (!inner)
				fail("'done' without 'repeat'");
			free(copy);
			return at;
		} else if (line.count) {
			do_line(&line);
		}
		free(copy);
	}
	return at;
}

static char **read_lines(FILE *in, unsigned *count)
{
	char **lines = NULL, *text = NULL;
	size_t size = 0;

	*count = 0;
	while (getline(&text, &size, in) >= 0) {
		lines = realloc(lines, (*count + 1) * sizeof *lines);
		if (!lines)
			fail("out of memory");
		lines[(*count)++] = strdup(text);
	}
	free(text);
	return lines;
}

int main(int argc, char **argv)
{
	unsigned count;
	FILE *file;

	if (argc != 3) {
		fprintf(stderr, "usage: mktrace IN.txt OUT.dwell\n");
		return 2;
	}
	in_name = argv[1];
	file = strcmp(in_name, "-") == 0 ? stdin : fopen(in_name, "r");
	if (!file)
		fail("%s", strerror(errno));
	char **lines = read_lines(file, &count);
	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	if (encode.failed)
		fail("out of memory");
	/* 2026-01-01 00:00:00 UTC: outputs must not depend on the day */
	dw_encode_head(&encode)->start_realtime_ns = (uint64_t)1767225600 * 1000000000;
	memcpy(dw_encode_head(&encode)->hostname, "testhost", sizeof "testhost");
	run(lines, count, 0, false);
	for (unsigned i = 0; i < MAX_ITEMS; i++)
		if (streams[i].used && !streams[i].killed)
			dw_encode_close(&streams[i].stream);
	close_devices();
	int64_t bytes = (int64_t)dw_encode_bytes(&encode);
	if (encode.failed)
		fail("out of memory");
	if (truncate_at != INT64_MAX)
		bytes = truncate_at < 0 ? bytes + truncate_at : truncate_at;
	file = fopen(argv[2], "wb");
	if (!file || (bytes > 0 && fwrite(encode.image, (size_t)bytes, 1, file) != 1) || fclose(file))
		fail("cannot write %s: %s", argv[2], strerror(errno));
	for (unsigned i = 0; i < count; i++)
		free(lines[i]);
	free(lines);
	dw_encode_reset(&encode);
	return 0;
}
