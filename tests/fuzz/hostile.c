/*
 * Inputs that were made to cost a reader memory or time: `hostile TARGET [NAME]`.
 *
 * Each is some hundred kilobytes to some megabytes, so it is made and not stored. The
 * target's bounds decide (bounds.h). TARGET is what the program was linked with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proto.h"
#include "bounds.h"
#include "../tools/encode_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dw_encode encode;
static struct dw_encode_process process;
static struct dw_encode_stream stream;

/* ---- traces ------------------------------------------------------------------------------- */

static void many_processes(void)
{
	for (unsigned i = 0; i < bounds_many(40000); i++)
		dw_encode_entry(&process, DW_ENTRY_PROCESS, dw_encode_new_id(&encode), 1,
		                sizeof(struct dw_entry_process));
}

static void symbols_of_one_frame(void)
{
	uint32_t frame = dw_encode_frame(&process, "f", "f.c", 1);

	for (unsigned i = 0; i < bounds_many(8000); i++)
		dw_encode_entry(&process, DW_ENTRY_FRAME, frame, 0, sizeof(struct dw_entry_frame));
	for (unsigned i = 0; i < bounds_many(8000); i++)
		dw_encode_entry(&process, DW_ENTRY_SYMBOL, frame, 0, sizeof(struct dw_entry_symbol));
}

static void ends_of_what_is_not_open(void)
{
	uint32_t op = dw_encode_op(&process, 2, "op", NULL, 0, NULL, 0), n = 0;

	for (uint64_t i = 0; i < bounds_many(100000); i++)
		dw_encode_begin(&stream, i, op);
	for (uint64_t i = 0; i < bounds_many(50000); i++)
		dw_encode_record(&stream, 100000 + i, DW_END_OF, op + 1, &n, 1);
}

static void ends_of_outer_ranges(void)
{
	uint32_t op = dw_encode_op(&process, 2, "op", NULL, 0, NULL, 0), n = bounds_many(50000);

	for (uint64_t i = 0; i < bounds_many(100000); i++)
		dw_encode_begin(&stream, i, op);
	for (uint64_t i = 0; i < bounds_many(50000); i++)
		dw_encode_record(&stream, 100000 + i, DW_END_OF, 0, &n, 1);
}

/* One name of 32 KB, and many that use it. */
static void long_names(void)
{
	static char text[32001];
	uint32_t name;

	memset(text, 'x', sizeof text - 1);
	name = dw_encode_string(&process, text);
	for (unsigned i = 0; i < bounds_many(8000); i++) {
		struct dw_entry_process *entry = dw_encode_entry(
		    &process, DW_ENTRY_PROCESS, dw_encode_new_id(&encode), 0, sizeof *entry);

		if (entry)
			entry->name = entry->command = name;
	}
	for (unsigned i = 0; i < bounds_many(8000); i++) {
		uint32_t module = i ? 0 : dw_encode_new_id(&encode);
		struct dw_entry_module *entry =
		    i ? NULL : dw_encode_entry(&process, DW_ENTRY_MODULE, module, 1, sizeof *entry);

		if (entry)
			entry->path = name;
		dw_encode_entry(&process, DW_ENTRY_FRAME, dw_encode_new_id(&encode), entry ? module : 0,
		                sizeof(struct dw_entry_frame));
	}
}

static void large_ids(void)
{
	dw_encode_entry(&process, DW_ENTRY_STRING, DW_ID_MASK, 0, sizeof(struct dw_entry));
	dw_encode_entry(&process, DW_ENTRY_STACK, DW_ID_MASK - 1, 0, sizeof(struct dw_entry));
}

/* ---- XSpaces ------------------------------------------------------------------------------ */

static struct dw_proto space;

static void put_event(uint64_t name)
{
	size_t event = dw_proto_open(&space, 4);

	dw_proto_u64(&space, 1, name);
	dw_proto_u64(&space, 2, 1000);
	dw_proto_u64(&space, 3, 1000);
	dw_proto_close(&space, event);
}

static void put_name(uint32_t field, uint64_t id, const char *name)
{
	size_t entry = dw_proto_open(&space, field), value;

	dw_proto_u64(&space, 1, id);
	value = dw_proto_open(&space, 2);
	dw_proto_u64(&space, 1, id);
	dw_proto_text(&space, 2, name);
	dw_proto_close(&space, value);
	dw_proto_close(&space, entry);
}

static void put_lines(unsigned count, const char *form)
{
	size_t plane = dw_proto_open(&space, 1);

	dw_proto_text(&space, 2, "/host:CPU");
	put_name(4, 1, "op");
	for (unsigned i = 0; i < count; i++) {
		size_t line = dw_proto_open(&space, 3);
		char name[64];

		snprintf(name, sizeof name, form, i + 1);
		dw_proto_u64(&space, 1, i + 1);
		dw_proto_text(&space, 2, name);
		put_event(1);
		dw_proto_close(&space, line);
	}
	dw_proto_close(&space, plane);
}

static void many_lines(void)
{
	put_lines(bounds_many(40000), "l%u");
}

static void many_lines_that_overlap(void)
{
	put_lines(bounds_many(40000), "l%u (overlapping 1)");
}

static void many_ranks(void)
{
	put_lines(bounds_many(40000), "rank %u: main");
}

static void many_events(void)
{
	size_t plane = dw_proto_open(&space, 1), line;

	dw_proto_text(&space, 2, "/host:CPU");
	put_name(4, 1, "op");
	line = dw_proto_open(&space, 3);
	for (unsigned i = 0; i < bounds_many(100000); i++)
		put_event(1);
	dw_proto_close(&space, line);
	dw_proto_close(&space, plane);
}

/* ---- work of devices ------------------------------------------------------------------------- */

/* Calls under many open ranges, of the thread itself and of the one that it works for. */
static void calls_in_deep_ranges(void)
{
	uint32_t device = dw_encode_device(&process, 0, "GPU", DW_API_CUDA);
	uint32_t queue = dw_encode_queue(&process, device, 7, 1, NULL), ops[2];
	uint32_t launch = dw_encode_op(&process, DWELL_CATEGORY_RUNTIME, "launch", NULL, 0, NULL, 0);
	struct dw_encode_events events;

	for (unsigned i = 0; i < 2; i++)
		ops[i] = dw_encode_op(&process, i ? DWELL_CATEGORY_ZONE : DWELL_CATEGORY_OPERATOR, "op", NULL,
		                      0, NULL, 0);
	dw_encode_events_init(&events, &process, 0, 0, true);
	for (uint64_t i = 0; i < bounds_many(100000); i++)
		dw_encode_begin(&stream, i, ops[i & 1]);
	for (uint32_t i = 0; i < bounds_many(20000); i++) {
		dw_encode_begin(&stream, 100000 + 2 * i, launch);
		dw_encode_correlation(&stream, i + 1);
		dw_encode_end(&stream, 100001 + 2 * i);
		dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL,
			.queue = queue, .correlation = i + 1, .start_ticks = 100000 + 2 * i,
			.duration_ticks = 1 });
	}
	dw_encode_events_close(&events);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* A group for each collective, of which more than the reader keeps. */
static void collectives_of_many_groups(void)
{
	uint32_t op = dw_encode_op(&process, DWELL_CATEGORY_COMMUNICATION, "all_reduce", NULL, 0, NULL, 0);
	char name[32];

	dw_encode_head(&encode)->flags |= DW_HEAD_COLLECTIVES;
	for (uint64_t i = 0; i < bounds_many(20000); i++) {
		snprintf(name, sizeof name, "g%u", (unsigned)i);
		dw_encode_begin(&stream, 2 * i, op);
		dw_encode_collective(&stream, 2 * i, dw_encode_string(&process, name), 1, 8);
		dw_encode_end(&stream, 2 * i + 1);
	}
}

/* Many collectives of one range; and ranges of one collective, which surround each other. */
static void collectives_of_one_range(void)
{
	uint32_t op = dw_encode_op(&process, DWELL_CATEGORY_COMMUNICATION, "all_reduce", NULL, 0, NULL, 0);
	uint32_t group = dw_encode_string(&process, "world");

	dw_encode_head(&encode)->flags |= DW_HEAD_COLLECTIVES;
	dw_encode_begin(&stream, 1, op);
	for (uint64_t i = 0; i < bounds_many(100000); i++)
		dw_encode_collective(&stream, 2 + i, group, UINT64_MAX - i, UINT64_MAX);
	for (uint64_t i = 0; i < bounds_many(100000); i++) {
		dw_encode_begin(&stream, 100002 + i, op);
		dw_encode_collective(&stream, 100002 + i, group, 7, 1);
	}
}

/* ---- Chrome traces --------------------------------------------------------------------------- */

static char *text;
static size_t text_size;

/* Makes a Chrome trace whose events are `event` with a number in it, `count` of them. */
static void put_events(const char *event, unsigned count)
{
	FILE *out = open_memstream(&text, &text_size);

	fputs("{\"traceEvents\":[", out);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, event, i);
	fputs("]}", out);
	fclose(out);
}

static void chrome_names(void)
{
	put_events("{\"ph\":\"X\",\"ts\":1,\"name\":\"n%u\"},", bounds_many(200000));
}

static void chrome_threads(void)
{
	put_events("{\"ph\":\"X\",\"ts\":1,\"tid\":%u},", bounds_many(200000));
}

static void chrome_processes(void)
{
	put_events("{\"ph\":\"X\",\"ts\":1,\"pid\":%u},", bounds_many(200000));
}

static void chrome_backward(void)
{
	put_events("{\"ph\":\"X\",\"ts\":-%u,\"dur\":1e9},", bounds_many(200000));
}

static void chrome_overlaps(void)
{
	put_events("{\"ph\":\"X\",\"ts\":%u,\"dur\":100000},", bounds_many(200000));
}

static void chrome_quotes(void)
{
	put_events("{\"n%u\":\"},", bounds_many(100000));
}

static void chrome_nested(void)
{
	put_events("{\"k%u\":[{},", bounds_many(100000));
}

static void chrome_open(void)
{
	put_events("{\"ph\":\"B\",\"ts\":%u},", bounds_many(200000));
}

static void chrome_queues(void)
{
	put_events("{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"pid\":%u},", bounds_many(200000));
}

/* Ends whose begins lie under many open ranges. */
static void chrome_ends(void)
{
	FILE *out = open_memstream(&text, &text_size);

	fputs("[", out);
	for (unsigned i = 0; i < bounds_many(50000); i++)
		fputs("{\"ph\":\"B\",\"ts\":1},", out);
	for (unsigned i = 0; i < bounds_many(50000); i++)
		fprintf(out, "{\"ph\":\"X\",\"ts\":%u,\"dur\":%u},", i + 2, 10000000 - 2 * i);
	for (unsigned i = 0; i < bounds_many(100000); i++)
		fprintf(out, "{\"ph\":\"E\",\"ts\":%u},", 100000 + i);
	fputs("]", out);
	fclose(out);
}

/* ---- all ------------------------------------------------------------------------------------ */

static const struct hostile {
	const char *target, *name;
	void (*make)(void);
} all[] = {
	{ "source", "many processes", many_processes },
	{ "source", "symbols of one frame", symbols_of_one_frame },
	{ "source", "ends of what is not open", ends_of_what_is_not_open },
	{ "source", "ends of outer ranges", ends_of_outer_ranges },
	{ "source", "long names", long_names },
	{ "source", "large ids", large_ids },
	{ "source", "calls in deep ranges", calls_in_deep_ranges },
	{ "source", "collectives of many groups", collectives_of_many_groups },
	{ "source", "collectives of one range", collectives_of_one_range },
	{ "xspace", "many lines", many_lines },
	{ "xspace", "many lines that overlap", many_lines_that_overlap },
	{ "xspace", "many ranks", many_ranks },
	{ "xspace", "many events", many_events },
	{ "kineto", "names", chrome_names },
	{ "kineto", "threads", chrome_threads },
	{ "kineto", "processes", chrome_processes },
	{ "kineto", "backward", chrome_backward },
	{ "kineto", "overlaps", chrome_overlaps },
	{ "kineto", "quotes", chrome_quotes },
	{ "kineto", "nested", chrome_nested },
	{ "kineto", "open", chrome_open },
	{ "kineto", "queues", chrome_queues },
	{ "kineto", "ends", chrome_ends },
};

static void run_trace(const struct hostile *hostile)
{
	uint32_t thread;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0);
	thread = dw_encode_thread(&process, 1, 0, 0, "main");
	dw_encode_stream_init(&stream, &process, 0, thread);
	hostile->make();
	dw_encode_close(&stream);
	dw_encode_head(&encode)->flags |= DW_HEAD_NAMED_ENDS;
	LLVMFuzzerTestOneInput((const uint8_t *)encode.image, dw_encode_bytes(&encode));
	dw_encode_reset(&encode);
}

static void run_space(const struct hostile *hostile)
{
	memset(&space, 0, sizeof space);
	hostile->make();
	LLVMFuzzerTestOneInput(space.bytes, space.used);
	dw_proto_reset(&space);
}

static void run_text(const struct hostile *hostile)
{
	hostile->make();
	LLVMFuzzerTestOneInput((const uint8_t *)text, text_size);
	free(text);
}

int main(int argc, char **argv)
{
	unsigned ran = 0;

	bounds_ask_all = true;
	for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
		if (strcmp(all[i].target, argv[1]) != 0 || (argc > 2 && !strstr(all[i].name, argv[2])))
			continue;
		printf("%s\n", all[i].name);
		fflush(stdout);
		(strcmp(argv[1], "source") == 0 ? run_trace
		 : strcmp(argv[1], "xspace") == 0 ? run_space : run_text)(&all[i]);
		ran++;
	}
	printf("%u passed, 0 failed\n", ran);
	return ran == 0;
}
