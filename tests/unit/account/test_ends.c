/* The accounts of what a thread does before its loop and after it, and what an import is. */
#include "made_steps.h"

#define SITE "/usr/lib/python3/dist-packages/"

/* Innermost first; of the code of a module, the name is "<module>". */
struct call {
	const char *name, *file;
	uint32_t line;
};

#define CALLS(...) \
	(const struct call[]){ __VA_ARGS__ }, sizeof((const struct call[]){ __VA_ARGS__ }) / sizeof(struct call)
#define IMPORT \
	{ \
		"_find_and_load", "<frozen importlib._bootstrap>", 1360 \
	}
#define MAIN(line) \
	{ \
		"<module>", "/srv/train.py", line \
	}

/* The thread runs, or waits in the innermost function, for `ms`. Outside the loop. */
static void spend(uint64_t ms, bool waits, const struct call *calls, size_t count)
{
	uint32_t frames[8];

	for (size_t i = 0; i < count; i++)
		frames[i] = calls[i].file ? dw_encode_frame(&made.process, calls[i].name, calls[i].file, calls[i].line)
		                          : dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", calls[i].name);
	if (waits)
		dw_encode_wait(&made.stream, (now_ms + ms) * MS - MS / 2, frames[0],
		               dw_encode_stack(&made.process, frames + 1, (uint32_t)count - 1), (uint32_t)ms);
	for (uint64_t t = 0; t < ms && !waits; t++)
		dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, frames[0],
		                 dw_encode_stack(&made.process, frames + 1, (uint32_t)count - 1), 1);
	now_ms += ms;
}

static void begin_python(void)
{
	begin_run(DW_PROCESS_PYTHON, 0);
	now_ms = 0;
}

/* From now on the thread is one of which the kernel said how long it ran in all. */
static void use_thread(uint64_t cpu_ms)
{
	struct dw_entry_thread *entry;

	made.thread = dw_encode_new_id(made.process.encode);
	entry = dw_encode_entry(&made.process, DW_ENTRY_THREAD, made.thread, made.process.id, sizeof *entry);
	entry->tid = 200;
	entry->stream = 1;
	entry->cpu_ns = cpu_ms * MS;
	dw_encode_stream_init(&made.stream, &made.process, 1, made.thread);
}

static void loop(void)
{
	start_ms = now_ms;
	for (unsigned i = 0; i < 10; i++) {
		begin_step();
		runs(2, NULL, "compute");
		end_step();
	}
}

/* Ends the loop's readings here, the process later. */
static const struct dw_account_run *run_of(void (*after)(void))
{
	uint64_t end_ms = now_ms;
	uint32_t end;

	if (after)
		after();
	end = made_op(&made, DWELL_CATEGORY_ZONE, "end");
	dw_encode_begin(&made.stream, now_ms * MS - 1, end);
	dw_encode_end(&made.stream, now_ms * MS);
	if (after && start_ms < end_ms) {
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, start_ms * MS, end_ms * MS);

		usage->cpu_ns = kernel.run_ms * MS;
		usage->process_cpu_ns = kernel.run_ms * MS;
		usage->waits = 1;
	}
	return made_open(&made, NULL) == 0 ? dw_account_of_run(made.model, &made.error) : NULL;
}

static void nothing(void)
{
}

/* The ms of the part with these words. -1: there is none. */
static double ms_of_part(const struct dw_account_run *run, enum dw_account_phase phase, const char *words,
                         char place[300])
{
	static struct dw_account_run_part parts[DW_ACCOUNT_RUN_PARTS];
	size_t count = dw_account_run_parts(run, parts);
	double ms = -1, all = 0;

	for (size_t i = 0; i < count; i++) {
		all += parts[i].sum.ns;
		if (parts[i].phase == phase && strcmp(parts[i].words, words) == 0) {
			ms = parts[i].sum.ns / (double)MS;
			dw_account_place(&parts[i].sum, place);
		}
	}
	CHECK_NEAR(all, run->wall_ns, 1e3);
	return ms;
}

static void after_loop(void)
{
	spend(30, false,
	      CALLS({ "gc_collect_main", "/usr/lib/python3.11/gc.c", 1 }, { "save", "/srv/train.py", 70 }, MAIN(90)));
	spend(20, true, CALLS({ "waitpid", NULL, 0 }, { "stop", "/srv/train.py", 80 }, MAIN(91)));
}

TEST(start_and_end_are_divided_as_the_loop_is)
{
	const struct dw_account_run *run;
	char place[300];

	begin_python();
	spend(40, false, CALLS({ "<module>", SITE "torch/__init__.py", 3 }, IMPORT, MAIN(1)));
	spend(15, false, CALLS({ "parse", "/srv/data.py", 40 }, MAIN(5)));
	spend(10, true, CALLS({ "read", NULL, 0 }, { "load", "/srv/data.py", 30 }, MAIN(6)));
	loop();
	run = run_of(after_loop);
	REQUIRE(run);
	CHECK_NEAR(run->wall_ns / (double)MS, 135, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing torch", place), 40, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "Python", place), 15, 1e-3);
	CHECK_STR(place, "parse (data.py:40)");
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "reading and writing files", place), 10, 1e-3);
	CHECK_STR(place, "load (data.py:30)");
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_LOOP, "", place), 20, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_END, "garbage collection", place), 30, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_END, "waiting for child processes", place), 20, 1e-3);
	CHECK_STR(place, "stop (train.py:80)");
	CHECK_EQ(dw_account_main_phase(run), DW_ACCOUNT_START);
	check_sums(run->phases[DW_ACCOUNT_START]);
	check_sums(run->phases[DW_ACCOUNT_END]);
	made_close(&made);
}

static void after_scores(void)
{
	spend(40, false, CALLS({ "score", "/srv/train.py", 70 }, MAIN(90)));
}

static void after_collects(void)
{
	spend(40, false, CALLS({ "gc_collect_main", "/usr/lib/python3.11/gc.c", 1 }, MAIN(90)));
}

static void after_waits_for_device(void)
{
	spend(40, false, CALLS({ "cudaStreamSynchronize", NULL, 0 }, { "train", "/srv/train.py", 70 }, MAIN(90)));
}

/* How long imports take, and the collector at exit, is no matter of the program; and a device has the loop's work. */
TEST(work_after_a_short_loop_comes_before_imports)
{
	static const struct {
		void (*after)(void);
		enum dw_account_phase main;
	} trials[] = { { after_scores, DW_ACCOUNT_END }, { after_collects, DW_ACCOUNT_START },
		           { after_waits_for_device, DW_ACCOUNT_START } };

	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		const struct dw_account_run *run;

		begin_python();
		spend(60, false, CALLS({ "<module>", SITE "torch/__init__.py", 3 }, IMPORT, MAIN(1)));
		loop();
		run = run_of(trials[i].after);
		REQUIRE(run);
		CHECK_EQ(dw_account_main_phase(run), trials[i].main);
		made_close(&made);
	}
}

static void after_open_step(void)
{
	dw_encode_step(&made.process, made.thread, steps++, now_ms * MS, 0, 0, DW_STEP_RECORDED);
	spend(30, false, CALLS({ "gc_collect_main", "/usr/lib/python3.11/gc.c", 1 }, MAIN(90)));
}

/* A step that begins with each call of a function has no other end than the next call. */
TEST(a_last_step_that_did_not_end_is_not_in_the_loop)
{
	const struct dw_account_run *run;
	char place[300];

	begin_python();
	spend(10, false, CALLS({ "parse", "/srv/data.py", 40 }, MAIN(5)));
	loop();
	run = run_of(after_open_step);
	REQUIRE(run);
	CHECK_NEAR(run->phases[DW_ACCOUNT_LOOP]->wall_ns / (double)MS, 20, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_LOOP, "", place), 20, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_END, "garbage collection", place), 30, 1e-3);
	check_sums(run->phases[DW_ACCOUNT_LOOP]);
	made_close(&made);
}

/* Whatever an import does is its own: what it reads, what it imports in turn, its collections. It has the line of the
 * program. */
TEST(an_import_is_that_of_the_outermost_package)
{
	const struct dw_account_run *run;
	char place[300];

	begin_python();
	spend(10, false,
	      CALLS({ "<module>", SITE "numpy/core/multiarray.py", 9 }, IMPORT, { "<module>", SITE "torch/_tensor.py", 3 },
	            IMPORT, MAIN(1)));
	spend(10, true,
	      CALLS({ "read", NULL, 0 }, { "FileLoader.get_data", "<frozen importlib._bootstrap_external>", 3 }, IMPORT,
	            { "<module>", SITE "torch/__init__.py", 3 }, IMPORT, MAIN(1)));
	spend(10, false,
	      CALLS({ "gc_collect_main", "/usr/lib/python3.11/gc.c", 3 },
	            { "<module>", SITE "torch/__init__.py", 3 }, IMPORT, MAIN(1)));
	spend(5, false,
	      CALLS({ "<module>", "/usr/lib/python3.11/json/__init__.py", 3 }, IMPORT, { "<module>", "/srv/tools.py", 4 },
	            IMPORT, MAIN(2)));
	spend(5, false, CALLS({ "<module>", "<frozen os>", 3 }, IMPORT, MAIN(2)));
	spend(5, false, CALLS({ "FileFinder.find_spec", "<frozen importlib._bootstrap_external>", 3 }, IMPORT, MAIN(3)));
	/* The program's own module computes when it is imported: no import takes this time. */
	spend(5, false, CALLS({ "tables", "/srv/tools.py", 8 }, { "<module>", "/srv/tools.py", 9 }, IMPORT, MAIN(2)));
	/* A function of the package that is called later. */
	spend(5, false, CALLS({ "manual_seed", SITE "torch/random.py", 8 }, MAIN(7)));
	loop();
	run = run_of(nothing);
	REQUIRE(run);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing torch", place), 30, 1e-3);
	CHECK_STR(place, "<module> (train.py:1)");
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing json", place), 5, 1e-3);
	CHECK_STR(place, "<module> (tools.py:4)");
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing os", place), 5, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing", place), 5, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "Python", place), 5, 1e-3);
	CHECK_STR(place, "tables (tools.py:8)");
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "Python of libraries", place), 5, 1e-3);
	made_close(&made);
}

/* What the whole thread used, without the loop, is what the ends used; samples only divide it. */
TEST(ends_never_contradict_the_kernel)
{
	const struct dw_account_run *run;
	char place[300];

	begin_python();
	use_thread(80); /* 20 ms in the loop */
	spend(30, false, CALLS({ "parse", "/srv/data.py", 40 }, MAIN(5)));
	now_ms += 70;
	loop();
	run = run_of(nothing);
	REQUIRE(run);
	CHECK(run->phases[DW_ACCOUNT_START]->known);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "Python", place), 60, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "not known", place), 40, 1e-3);
	made_close(&made);
}

TEST(more_packages_than_are_kept)
{
	const struct dw_account_run *run;
	char place[300], files[40][64];

	begin_python();
	for (unsigned i = 0; i < 40; i++) {
		snprintf(files[i], sizeof files[i], SITE "package%02u/__init__.py", i);
		spend(1 + i, false, CALLS({ "<module>", files[i], 1 }, IMPORT, MAIN(i + 1)));
	}
	loop();
	run = run_of(nothing);
	REQUIRE(run);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing package39", place), 40, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing package24", place), 25, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing package23", place), -1, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "importing", place), 24 * 25 / 2, 1e-3);
	made_close(&made);
}

TEST(without_samples_the_lengths_are_known)
{
	const struct dw_account_run *run;
	char place[300];

	begin_python();
	now_ms = 100;
	loop();
	run = run_of(nothing);
	REQUIRE(run);
	CHECK_NEAR(dw_account_phase_ns(run, DW_ACCOUNT_START) / (double)MS, 100, 1e-3);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_START, "not known", place), 100, 1e-3);
	CHECK(!dw_account_is_divided(run->phases[DW_ACCOUNT_START]));
	made_close(&made);
}

/* It ended before its first step: the whole run is one iteration, and there is no start. */
TEST(a_run_that_is_cut_in_its_start)
{
	const struct dw_account_run *run;
	char place[300];

	begin_python();
	spend(40, false, CALLS({ "<module>", SITE "torch/__init__.py", 3 }, IMPORT, MAIN(1)));
	run = run_of(NULL);
	REQUIRE(run);
	CHECK_NEAR(ms_of_part(run, DW_ACCOUNT_LOOP, "", place), 40, 1e-3);
	CHECK_EQ(dw_account_main_phase(run), DW_ACCOUNT_LOOP);
	CHECK_NEAR(ms_of(run->phases[DW_ACCOUNT_LOOP], -1, -1, DW_ACTIVITY_IMPORTS), 40, 1e-3);
	made_close(&made);
}

/* Whatever a thread does in whatever state. */
TEST(each_cell_is_in_one_part)
{
	static struct dw_account_run_part parts[DW_ACCOUNT_RUN_PARTS];
	static struct dw_account_cell cells[DW_ACCOUNT_STATE_COUNT * DW_ACTIVITY_COUNT];
	struct dw_account account = { .cells = cells }, loop = { .wall_ns = 1 }, none = { .wall_ns = 0 };
	struct dw_account_run run = { .phases = { &account, &loop, &none } };
	double all = 0;
	size_t count;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++) {
			cells[account.count] = (struct dw_account_cell){ .named = DW_NO_INDEX, .share = DW_SHARE_OTHER, .activity = activity, .state = state,
				                                             .ns = (double)(1ull << (account.count / 5)) * (double)(1 + account.count % 5) };
			account.wall_ns += cells[account.count++].ns;
		}
	run.wall_ns = account.wall_ns + 1;
	count = dw_account_run_parts(&run, parts);
	for (size_t i = 0; i < count; i++)
		all += parts[i].sum.ns;
	CHECK_NEAR(all, run.wall_ns, 1e-6 * run.wall_ns);
	CHECK_RANGE(count, 20, DW_ACCOUNT_RUN_PARTS);
}

TEST(a_part_of_the_time_has_no_ends)
{
	const struct dw_account_run *run;
	struct dw_scope scope = { .has_window = true, .from_ns = 5 * MS, .to_ns = 30 * MS };

	begin_python();
	now_ms = 10;
	loop();
	REQUIRE(made_open(&made, &scope) == 0);
	run = dw_account_of_run(made.model, &made.error);
	REQUIRE(run);
	CHECK_EQ((uint64_t)run->wall_ns, 0);
	CHECK_EQ(dw_account_main_phase(run), DW_ACCOUNT_LOOP);
	made_close(&made);
}

CHECK_MAIN
