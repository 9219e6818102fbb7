/* Memory over time as a picture: the content of the file, and traces with nothing to draw. */
#include "made.h"

#include "pictures/memory_curve.h"

static struct made made;
static struct {
	char at[65536];
	size_t length;
} text;

static void put(void *to, const char *bytes, size_t length)
{
	REQUIRE(text.length + length < sizeof text.at);
	memcpy(text.at + text.length, bytes, length);
	text.length += length;
	text.at[text.length] = '\0';
}

static void event(uint64_t ticks, enum dw_kind kind, uint32_t id, uint64_t address, uint64_t bytes)
{
	uint64_t payload[] = { address, bytes };

	dw_encode_record(&made.stream, ticks, kind, id, payload, kind == DW_ALLOC ? 4 : 2);
}

TEST(points_peak_and_steps_are_in_the_file)
{
	made_init(&made);
	uint32_t parameter =
		dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, "parameter", "cpu", 0, NULL, 0);
	uint32_t activation =
		dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, "activation", "cpu", 0, NULL, 0);

	event(1000, DW_ALLOC, parameter, 0x1000, 4096);
	dw_encode_step(&made.process, made.thread, 7, 2000, 8000, 0, 0);
	event(3000, DW_ALLOC, activation, 0x2000, 8192);
	event(5000, DW_FREE, activation, 0x2000, 0);
	event(9000, DW_ALLOC, activation, 0x3000, 1024);
	REQUIRE(made_open(&made, NULL) == 0);
	text.length = 0;
	REQUIRE(dw_memory_curve_write(made.model, "a < b", put, NULL, NULL) == 0);
	CHECK_HAS(text.at, "<title>a &lt; b</title>");
	CHECK_HAS(text.at, "peak 12.0 KiB, step 7, 5.00 KiB left at the end");
	CHECK_HAS(text.at, "3000,4096,0,0,0,8192,0,0");
	CHECK_HAS(text.at, "data-ns=\"3000\"");
	CHECK_HAS(text.at, "data-marks=\"2000,7,8000\"");
	CHECK_HAS(text.at, "(no operator)");
	made_close(&made);
}

TEST(without_allocations_it_says_what_to_do)
{
	struct dwell_error error = { 0, "" };

	made_init(&made);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(dw_memory_curve_write(made.model, NULL, put, NULL, &error), DWELL_E_NO_DATA);
	CHECK_HAS(error.message, "DWELL_ALLOC()");
	made_close(&made);
}

CHECK_MAIN
