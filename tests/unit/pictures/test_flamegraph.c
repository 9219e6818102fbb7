/* From a trace to the picture's nodes: threads, kinds, titles. */
#include "format/keys.h"
#include "made.h"
#include "pictures/flamegraph.h"

struct text {
	char at[1 << 17];
	size_t used;
};

static struct made made;
static struct text text;

static void put_text(void *to, const char *bytes, size_t length)
{
	if (length > sizeof text.at - 1 - text.used)
		length = sizeof text.at - 1 - text.used;
	memcpy(text.at + text.used, bytes, length);
	text.used += length;
	text.at[text.used] = '\0';
}

static const char *draw(const struct dw_flamegraph_options *options, struct dw_picture_drawn *drawn)
{
	text.used = 0;
	return dw_flamegraph_write(made.model, options, put_text, NULL, drawn, NULL) ? NULL : text.at;
}

static void record_calls(void)
{
	uint32_t phase = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t mm = made_op(&made, DWELL_CATEGORY_OPERATOR, "mm<float>");

	dw_encode_begin(&made.stream, 1000, phase);
	dw_encode_begin(&made.stream, 2000, mm);
	dw_encode_end(&made.stream, 3000);
	dw_encode_begin(&made.stream, 4000, mm);
	dw_encode_end(&made.stream, 5000);
	dw_encode_end(&made.stream, 9000);
}

TEST(threads_lie_in_the_whole_and_calls_in_them)
{
	struct dw_picture_drawn drawn;

	made_init(&made);
	record_calls();
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(draw(NULL, &drawn));
	CHECK_EQ(drawn.nodes, 4);
	CHECK_EQ(drawn.rows, 4);
	CHECK_EQ(drawn.merged, 0);
	CHECK_EQ(drawn.total, 8000);
	CHECK_HAS(text.at, "<title>all\n8.00 us, 100.0% of all</title>");
	CHECK_HAS(text.at, "<title>main\n8.00 us, 100.0% of all</title>");
	CHECK_HAS(text.at, "<title>forward\nforward phase, 8.00 us, 100.0% of all, 6.00 us self, 1 call</title>");
	CHECK_HAS(text.at, "<title>mm&lt;float&gt;\noperator, 2.00 us, 25.0% of all,"
	                   " 2.00 us self, 2 calls<");
	CHECK_HAS(text.at, "<rect x=\"0%\" y=\"0\" width=\"25%\"");
	made_close(&made);
}

TEST(processes_are_named_where_there_are_several)
{
	struct dw_encode_process other;
	struct dw_encode_stream stream;
	struct dw_entry_process *entry;
	uint32_t next;

	made_init(&made);
	record_calls();
	entry = dw_encode_process_init(&other, &made.encode, 0);
	entry->pid = 0x7ffffffd;
	dw_encode_stream_init(&stream, &other, 0, dw_encode_thread(&other, 200, 0, 0, "loader"));
	next = dw_encode_op(&other, DWELL_CATEGORY_DATA, "next", NULL, 0, NULL, 0);
	dw_encode_begin(&stream, 1000, next);
	dw_encode_end(&stream, 2000);
	dw_encode_close(&stream);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(draw(NULL, NULL));
	CHECK_HAS(text.at, "<title>process 2147483646: main\n");
	CHECK_HAS(text.at, "<title>process 2147483645: loader\n");
	CHECK_HAS(text.at, "2 threads");
	made_close(&made);
}

TEST(title_and_direction_are_the_callers)
{
	struct dw_flamegraph_options options = { .title = "run <7>", .down = true };

	made_init(&made);
	record_calls();
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(draw(&options, NULL));
	CHECK_HAS(text.at, "<title>run &lt;7&gt;</title>");
	CHECK_HAS(text.at, "class=\"dwp down\"");
	made_close(&made);
}

TEST(a_trace_without_calls_is_said_to_be_one)
{
	made_init(&made);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(draw(NULL, NULL));
	CHECK_HAS(text.at, "nothing was recorded");
	made_close(&made);
}

/* Functions of samples are of the program, of a library, of the interpreter, or of the system. */
TEST(functions_of_samples_have_kinds)
{
	static const char *const of[][2] = { { "/usr/lib/x86_64-linux-gnu/libc.so.6", "memcpy" }, { "/usr/lib/libpython3.11.so.1.0", "PyUnicode_Split" },
		                                 { "[kernel]", "do_read" }, { "/srv/engine", "main" } };
	struct dwell_error error;
	uint32_t frames[4];

	made_init(&made);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	for (unsigned i = 0; i < 4; i++)
		frames[i] = dw_encode_frame_in(&made.process, of[i][0], of[i][1]);
	dw_encode_sample(&made.stream, 1000, frames[0], dw_encode_stack(&made.process, frames + 1, 3), 1);
	REQUIRE(made_open(&made, NULL) == 0);
	text.used = 0;
	REQUIRE(dw_flamegraph_write(made.model, &(struct dw_flamegraph_options){ .metric = "samples" }, put_text, NULL, NULL, &error) == 0);
	CHECK_HAS(text.at, "<title>memcpy\ncode of libraries, ");
	CHECK_HAS(text.at, "<title>PyUnicode_Split\ninterpreter, ");
	CHECK_HAS(text.at, "<title>do_read\noperating system, ");
	CHECK_HAS(text.at, "<title>main\nown code, ");
	made_close(&made);
}

CHECK_MAIN
