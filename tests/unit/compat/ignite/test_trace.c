/*
 * The trace of a run: every firing, handler, fetch and iteration is a range in its place; counters
 * number them; there is one step per iteration.
 */
#include <unistd.h>

#include <dwell/probe.h>

#include "format/decode.h"
#include "read/source.h"
#include "script.h"

static char path[256];
static const struct dw_source_file *file;
static int level;

static void on_begin(void *context, uint64_t ticks, uint32_t id)
{
	const struct dw_symbol *symbol = &file->symbols[id];

	(void)context, (void)ticks;
	if (symbol->category != DWELL_CATEGORY_PROFILER)
		say("%*s%s (%s)\n", level * 2, "", symbol->name, symbol->detail ? symbol->detail : "");
	level++;
}

static void on_end(void *context, uint64_t ticks)
{
	(void)context, (void)ticks;
	level--;
}

static void on_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	(void)context, (void)ticks;
	if (record->kind == DW_COUNTER)
		say("%*s%s = %g\n", level * 2, "", file->symbols[record->id].name,
		    dw_record_f64(record, 0));
}

/* The trace's ranges onto the page, indented by depth. */
static struct dw_source *read_trace(void)
{
	const char *paths[] = { path };
	struct dw_source *source = NULL;
	struct dwell_error error;

	level = 0;
	clear_page();
	if (dw_source_open(&source, paths, 1, &error) != 0) {
		CHECK_FAIL("%s", error.message);
		return NULL;
	}
	file = &source->files[0];
	for (size_t s = 0; s < source->stream_count; s++)
		for (size_t c = 0; c < source->streams[s].chunk_count; c++) {
			const struct dw_source_chunk *chunk = &source->streams[s].chunks[c];
			struct dw_decode_time time = { .ticks = chunk->base_ticks };

			dw_decode_words(chunk->words, chunk->word_count, &time, NULL, on_begin, on_end,
			                on_other);
		}
	return source;
}

static void start(void)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error;

	snprintf(path, sizeof path, "/tmp/dwell-ignite-%d.dwell", (int)getpid());
	options.path = path;
	options.overwrite = true;
	if (dwell_start(&options, &error) != 0)
		CHECK_FAIL("%s", error.message);
}

static int log_loss(struct dwell_ignite_engine *engine, void *user)
{
	(void)engine, (void)user;
	return 0;
}

static int validate(struct dwell_ignite_engine *engine, void *user)
{
	struct dwell_ignite_limits limits = limits_of(1, 0, 1);

	(void)engine;
	return dwell_ignite_engine_run((struct dwell_ignite_engine *)user, NULL, &limits, NULL);
}

static const char expected[] =
    "run (trainer)\n"
    "  trainer.epoch = 0\n"
    "  trainer.iteration = 0\n"
    "  STARTED (trainer)\n"
    "  epoch (trainer)\n"
    "    trainer.epoch = 1\n"
    "    EPOCH_STARTED (trainer)\n"
    "    restart (trainer)\n"
    "    trainer.iteration = 1\n"
    "    dataflow (trainer)\n"
    "      GET_BATCH_STARTED (trainer)\n"
    "    GET_BATCH_COMPLETED (trainer)\n"
    "    ITERATION_STARTED (trainer)\n"
    "    processing (trainer)\n"
    "    ITERATION_COMPLETED (trainer)\n"
    "      log_loss (trainer.ITERATION_COMPLETED)\n"
    "    trainer.iteration = 2\n"
    "    dataflow (trainer)\n"
    "      GET_BATCH_STARTED (trainer)\n"
    "    GET_BATCH_COMPLETED (trainer)\n"
    "    ITERATION_STARTED (trainer)\n"
    "    processing (trainer)\n"
    "    ITERATION_COMPLETED (trainer)\n"
    "      log_loss (trainer.ITERATION_COMPLETED)\n"
    "      log_loss #2 (trainer.ITERATION_COMPLETED)\n"
    "    EPOCH_COMPLETED (trainer)\n"
    "      validate (trainer.EPOCH_COMPLETED)\n"
    "        run (evaluator)\n"
    "          evaluator.epoch = 0\n"
    "          evaluator.iteration = 0\n"
    "          STARTED (evaluator)\n"
    "          epoch (evaluator)\n"
    "            evaluator.epoch = 1\n"
    "            EPOCH_STARTED (evaluator)\n"
    "            evaluator.iteration = 1\n"
    "            ITERATION_STARTED (evaluator)\n"
    "            processing (evaluator)\n"
    "            ITERATION_COMPLETED (evaluator)\n"
    "            EPOCH_COMPLETED (evaluator)\n"
    "          COMPLETED (evaluator)\n"
    "  COMPLETED (trainer)\n";

static bool has_symbol(const char *name, const char *detail)
{
	for (uint32_t i = 0; i < file->symbol_count; i++)
		if (check_same_text(file->symbols[i].name, name) &&
		    check_same_text(file->symbols[i].detail, detail))
			return true;
	return false;
}

TEST(a_nested_run_is_all_ranges)
{
	struct dwell_ignite_engine *trainer, *evaluator;
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 2, true, true);
	struct dw_source *source;

	REQUIRE(dwell_ignite_engine_create(&trainer, "trainer", do_nothing, NULL, NULL) == 0);
	REQUIRE(dwell_ignite_engine_create(&evaluator, "evaluator", do_nothing, NULL, NULL) == 0);
	CHECK_EQ(dwell_ignite_engine_on(trainer, "ITERATION_COMPLETED", log_loss, NULL, NULL), 0);
	CHECK_EQ(dwell_ignite_engine_on(trainer, "ITERATION_COMPLETED(every=2) | INTERRUPT", log_loss, NULL,
	                                NULL), 0);
	CHECK_EQ(dwell_ignite_engine_on(trainer, "EPOCH_COMPLETED", validate, evaluator, NULL), 0);
	start(); /* after the names were given */
	CHECK_EQ(dwell_ignite_engine_run(trainer, &data, NULL, NULL), 0);
	dwell_stop(NULL);
	source = read_trace();
	REQUIRE(source);
	if (strcmp(page, expected) != 0)
		CHECK_FAIL("the trace holds\n%s", page);
	CHECK_EQ(level, 0);
	CHECK(has_symbol("log_loss", "trainer.INTERRUPT")); /* never called, known */
	CHECK(has_symbol("EXCEPTION_RAISED", "trainer"));
	CHECK_EQ(source->step_count, 2);
	dw_source_close(source);
	dwell_ignite_engine_destroy(trainer);
	dwell_ignite_engine_destroy(evaluator);
	unlink(path);
}

static int stop_it(struct dwell_ignite_engine *engine, void *user)
{
	switch (*(int *)user) {
	case 0:
		return dwell_ignite_engine_terminate(engine, false, NULL);
	case 1:
		return dwell_ignite_engine_terminate_epoch(engine, true, NULL);
	case 2:
		return dwell_ignite_engine_interrupt(engine, NULL);
	default:
		return -1;
	}
}

TEST(whatever_ends_a_run_closes_its_ranges)
{
	struct dwell_ignite_engine *trainer;
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 2, false, true);
	struct dwell_ignite_limits limits = limits_of(2, 0, 0);
	struct dw_source *source;
	int action, outermost = 0;

	start();
	for (int event = 0; event < DWELL_IGNITE_EVENT_COUNT; event++) {
		REQUIRE(dwell_ignite_engine_create(&trainer, "trainer", do_nothing, NULL, NULL) == 0);
		CHECK_EQ(dwell_ignite_engine_on(trainer, dwell_ignite_engine_event_name(trainer, event), stop_it,
		                                &action, NULL), 0);
		for (action = 0; action < 4; action++) {
			outermost++;
			dwell_ignite_engine_run(trainer, &data, &limits, NULL);
			while (dwell_ignite_engine_state(trainer)->interrupted) {
				outermost++;
				dwell_ignite_engine_resume(trainer, NULL);
			}
		}
		dwell_ignite_engine_destroy(trainer);
	}
	dwell_stop(NULL);
	source = read_trace();
	REQUIRE(source);
	CHECK_EQ(level, 0);
	for (const char *at = page; (at = strstr(at, "run (trainer)\n")); at++)
		outermost -= at == page || at[-1] == '\n';
	CHECK_EQ(outermost, 0);
	for (size_t i = 0; i < source->step_count; i++)
		CHECK(!source->steps[i].open);
	dw_source_close(source);
	unlink(path);
}

TEST(steps_are_iterations_whatever_the_data)
{
	struct dwell_ignite_engine *trainer;
	struct numbers numbers;
	struct dwell_ignite_limits limits = limits_of(2, 0, 0);
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 3, false, true);
	struct dw_source *source;

	start();
	REQUIRE(dwell_ignite_engine_create(&trainer, "trainer", do_nothing, NULL, NULL) == 0);
	CHECK_EQ(dwell_ignite_engine_run(trainer, &data, &limits, NULL), 0);       /* unsized: 6 */
	limits.epoch_length = 5;
	data.length = 3;
	CHECK_EQ(dwell_ignite_engine_run(trainer, &data, &limits, NULL), 0);       /* wraps: 10 */
	dwell_ignite_engine_set_steps(trainer, false);
	CHECK_EQ(dwell_ignite_engine_run(trainer, &data, &limits, NULL), 0);
	dwell_ignite_engine_destroy(trainer);
	dwell_stop(NULL);
	source = read_trace();
	REQUIRE(source);
	CHECK_EQ(source->step_count, 16);
	dw_source_close(source);
	unlink(path);
}

CHECK_MAIN
