/* SINGA's listing: which operators are forward, which are listed, what is refused. */
#include "made.h"

#include <stdlib.h>

#include "layouts/layouts.h"

static struct made made;
static uint64_t now;
static char *text;
static size_t text_bytes;

static void start(void)
{
	made_init(&made);
	now = 0;
}

static void op(uint32_t id, uint64_t us)
{
	dw_encode_begin(&made.stream, now, id);
	dw_encode_end(&made.stream, now += us * 1000);
}

static uint32_t named(const char *name)
{
	return made_op(&made, DWELL_CATEGORY_OPERATOR, name);
}

static void step(uint64_t number, uint64_t from)
{
	dw_encode_step(&made.process, made.thread, number, from, now, 0, DW_STEP_RECORDED);
}

/* The result; what is printed is in `text`. */
static int print_version(const char *version, struct dwell_view_options options)
{
	const struct dw_layout_request request = { version, &options };

	FILE *file;
	int code;

	free(text);
	file = open_memstream(&text, &text_bytes);
	if (!file)
		return -100;
	made.error.code = 0;
	made.error.message[0] = '\0';
	code = dw_layout_singa.print(made.model, &request, file, &made.error);
	fclose(file);
	return code;
}

#define PRINT(...) print_version(NULL, (struct dwell_view_options){ __VA_ARGS__ })

TEST(names_divide_where_no_phase_is_marked)
{
	start();
	uint32_t conv = named("Conv"), wait = named("Waiting"), back = named("ConvBackward");

	for (uint64_t i = 0; i < 4; i++) {
		uint64_t from = now;

		op(conv, 100);
		op(wait, 50);
		op(conv, 200);
		op(back, 400);
		op(conv, 30);
		step(i, from);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(PRINT(.has_verbosity = true, .verbosity = 1) == 0);
	CHECK_STR(text, "\nTime Profiling:\nForward Propagation Time : 0.0003 sec\n"
	                "Backward Propagation Time : 0.00048 sec\n");
	REQUIRE(PRINT(.has_skip_iteration = true, .skip_iteration = 3) == 0);
	CHECK_STR(text, "\nTime Profiling:\nOP_ID0. Conv : 0.0001 sec\nOP_ID2. Conv : 0.0002 sec\n"
	                "OP_ID3. ConvBackward : 0.0004 sec\nOP_ID4. Conv : 3e-05 sec\n");
	CHECK_STR(made.error.message, "");
	made_close(&made);
}

TEST(phases_divide_where_they_are_marked)
{
	start();
	uint32_t conv = named("Conv"), odd = named("NoBackwardAtAll");
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");

	for (uint64_t i = 0; i < 3; i++) {
		uint64_t from = now;

		dw_encode_begin(&made.stream, now, forward);
		op(odd, 100);
		op(conv, 100);
		dw_encode_end(&made.stream, now += 7000);
		dw_encode_begin(&made.stream, now, backward);
		op(conv, 500);
		dw_encode_end(&made.stream, now);
		step(i, from);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(PRINT(.has_verbosity = true, .verbosity = 1) == 0);
	CHECK_STR(text, "\nTime Profiling:\nForward Propagation Time : 0.0002 sec\n"
	                "Backward Propagation Time : 0.000507 sec\n");
	made_close(&made);
}

TEST(an_operator_of_some_iterations_counts_for_its_part)
{
	start();
	uint32_t conv = named("Conv"), drop = named("Dropout");

	for (uint64_t i = 0; i < 4; i++) {
		uint64_t from = now;

		op(conv, 100);
		if (i % 2)
			op(drop, 40);
		step(i, from);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(PRINT(.has_verbosity = true, .verbosity = 1) == 0);
	/* without a backward pass all operations are forward, and nothing is left */
	CHECK_STR(text, "\nTime Profiling:\nForward Propagation Time : 0.00012 sec\n"
	                "Backward Propagation Time : 0 sec\n");
	REQUIRE(PRINT(.has_verbosity = true, .verbosity = 2) == 0);
	CHECK_STR(text, "\nTime Profiling:\nOP_ID0. Conv : 0.0001 sec\nOP_ID1. Dropout : 4e-05 sec\n");
	CHECK(strstr(made.error.message, "1 of these 2 operations is not in all 4 iterations") != NULL);
	CHECK_EQ(made.error.code, 0);
	made_close(&made);
}

TEST(a_programs_last_word_holds)
{
	start();
	dw_encode_meta(&made.process, "singa.verbosity", "2", false);
	dw_encode_meta(&made.process, "singa.skip_iteration", "5", false);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t from = now;

		op(named("Conv"), 100 * (i + 1));
		step(i, from);
	}
	dw_encode_meta(&made.process, "singa.verbosity", "1", false);
	dw_encode_meta(&made.process, "singa.skip_iteration", "1", false);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(PRINT(.limit = 0) == 0);
	CHECK_STR(text, "\nTime Profiling:\nForward Propagation Time : 0.00025 sec\n"
	                "Backward Propagation Time : 0 sec\n");
	made_close(&made);
}

TEST(what_makes_no_sense_is_refused)
{
	start();
	op(named("Conv"), 100);
	step(0, 0);
	dw_encode_meta(&made.process, "singa.verbosity", "9", false);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(PRINT(.has_verbosity = true, .verbosity = 4), DWELL_E_ARGUMENT);
	CHECK_STR(text, "");
	CHECK_EQ(print_version("3", (struct dwell_view_options){ .size = 0 }), DWELL_E_NAME);
	CHECK_EQ(PRINT(.limit = 0), DWELL_E_CORRUPT);
	CHECK(strstr(made.error.message, "--verbosity") != NULL);
	CHECK_EQ(PRINT(.has_verbosity = true, .verbosity = 2, .has_skip_iteration = true,
	               .skip_iteration = 1), DWELL_E_NO_DATA);
	CHECK_STR(text, "");
	CHECK_EQ(PRINT(.has_verbosity = true, .verbosity = 0), 0);
	CHECK_STR(text, "");
	made_close(&made);
}

CHECK_MAIN
