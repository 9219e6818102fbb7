/* The timeline: tracks, nesting, memory and arrows, as any format receives them. */
#include "export/timeline.h"
#include "made.h"

static struct made made;
static struct dw_writer_out out, seen; /* seen: one line for each event */

static void see(const char *what, uint32_t track, uint64_t ns, uint64_t value)
{
	char line[128];

	snprintf(line, sizeof line, "%s %u %llu %llu\n", what, track, (unsigned long long)ns,
	         (unsigned long long)value);
	dw_out_text(&seen, line);
}

static void see_handlers(void *to, uint32_t track)
{
	see("handlers", track, 0, 0);
}

static void see_range(void *to, const struct dw_event *event, uint32_t track, bool nests)
{
	see(nests ? "range" : "overlapping", track, event->start_ns, event->end_ns);
}

static void see_event(void *to, const struct dw_event *event, uint32_t track)
{
	see("event", track, event->start_ns, event->end_ns);
}

static void see_step(void *to, const struct dw_nest_step *step)
{
	see(step->overlaps ? "overlapping step" : "step", step->track, step->start_ns, step->end_ns);
}

static void see_memory(void *to, const struct dw_memory_total *total)
{
	see(total->freed ? "free" : "alloc", total->track, total->ns, (uint64_t)total->total);
}

static void see_arrow(void *to, const struct dw_arrow_end *end)
{
	see(end->arrives ? "to" : "from", end->track, end->ns, end->id);
}

static const struct dw_timeline_format in_order = {
	.put_handlers = see_handlers, .put_range = see_range, .put_mark = see_event,
	.put_counter = see_event, .put_async = see_event, .put_step = see_step,
	.put_memory = see_memory, .put_arrow = see_arrow,
};

/* What a format receives; good until end(). */
static const char *run(bool handlers_last)
{
	struct dw_timeline_format format = in_order;
	struct dw_timeline timeline;

	format.handlers_last = handlers_last;
	dw_out_init_memory(&out);
	dw_out_init_memory(&seen);
	if (made_open(&made, NULL))
		return NULL;
	dw_timeline_open(&timeline, &format, NULL, made.model, NULL, &out);
	CHECK_EQ(dw_timeline_events(&timeline, &made.error), 0);
	dw_timeline_steps(&timeline);
	dw_timeline_memory(&timeline);
	dw_timeline_arrows(&timeline);
	CHECK_EQ(dw_timeline_close(&timeline, 0, &made.error), 0);
	dw_out_bytes(&seen, "", 1);
	return seen.buffer;
}

static void end(void)
{
	dw_out_reset(&out);
	dw_out_reset(&seen);
	made_close(&made);
}

static void mark(struct dw_encode_stream *stream, uint64_t ns, uint32_t op)
{
	dw_encode_record(stream, ns, DW_MARK, op, NULL, 0);
}

/* Signal handlers of the first of two threads wrote between the two. */
static void make_handlers(void)
{
	struct dw_encode_stream handlers, second;
	uint64_t handle = 5;
	uint32_t op, thread;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_MARK, "mark");
	mark(&made.stream, 100, op);
	dw_encode_close(&made.stream);
	dw_encode_stream_init(&handlers, &made.process, DW_STREAM_NESTED, made.thread);
	mark(&handlers, 200, op);
	dw_encode_record(&handlers, 210, DW_ASYNC_BEGIN, op, &handle, 2);
	dw_encode_record(&handlers, 220, DW_ASYNC_END, op, &handle, 2);
	dw_encode_close(&handlers);
	thread = dw_encode_thread(&made.process, 101, 1, 0, "second");
	dw_encode_stream_init(&second, &made.process, 1, thread);
	mark(&second, 300, op);
	dw_encode_close(&second);
}

TEST(signal_handlers_have_a_track_and_come_last_if_asked)
{
	const char *text;

	make_handlers();
	text = run(true);
	CHECK(text && strcmp(text, "event 0 100 100\nevent 2 300 300\nhandlers 1 0 0\n"
	                           "event 1 200 200\nevent 1 210 220\n") == 0);
	end();
}

TEST(streams_come_in_order_and_asynchronous_ranges_at_the_end)
{
	const char *text, *async;

	make_handlers();
	text = run(false);
	async = text ? strstr(text, "event 1 210 220\n") : NULL;
	CHECK(async && !async[strlen("event 1 210 220\n")]);
	CHECK_HAS(text, "handlers 1 0 0\nevent 1 200 200\n");
	end();
}

TEST(ranges_and_steps_say_whether_they_nest)
{
	uint32_t op, second = 1;
	const char *text;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_ZONE, "zone");
	dw_encode_begin(&made.stream, 100, op);
	dw_encode_begin(&made.stream, 200, op);
	dw_encode_record(&made.stream, 300, DW_END_OF, 0, &second, 1); /* the outer one first */
	dw_encode_end(&made.stream, 400);
	dw_encode_step(&made.process, made.thread, 0, 50, 500, 0, DW_STEP_RECORDED);
	dw_encode_step(&made.process, made.thread, 1, 600, 700, 0, DW_STEP_RECORDED);
	dw_encode_begin(&made.stream, 650, op);
	dw_encode_end(&made.stream, 750);
	text = run(false);
	CHECK_HAS(text, "range 0 100 300\noverlapping 0 200 400\nrange 0 650 750\n");
	CHECK_HAS(text, "\nstep 0 50 500\noverlapping step 0 600 700\n");
	end();
}

TEST(memory_and_arrows_come_in_order_of_time_over_all_threads)
{
	struct dw_encode_stream second;
	uint64_t block[2] = { 0x1000, 64 }, handle = 9;
	uint32_t op, thread;
	const char *text;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_ALLOCATION, "other");
	thread = dw_encode_thread(&made.process, 101, 1, 0, "second");
	dw_encode_record(&made.stream, 300, DW_FREE, op, block, 2);
	dw_encode_record(&made.stream, 400, DW_FLOW_IN, op, &handle, 2);
	dw_encode_stream_init(&second, &made.process, 1, thread);
	dw_encode_record(&second, 100, DW_ALLOC, op, block, 4);
	dw_encode_record(&second, 150, DW_FLOW_OUT, op, &handle, 2);
	dw_encode_close(&second);
	text = run(true);
	CHECK(text && strcmp(text, "alloc 2 100 64\nfree 0 300 0\nfrom 2 150 1\nto 0 400 1\n") == 0);
	end();
}

CHECK_MAIN
