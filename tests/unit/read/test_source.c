/* Opening: which files are refused and why, recovery of torn files, several files. */
#include "made.h"

#include <sys/stat.h>
#include <time.h>

static struct made made;

static int open_path(const char *path)
{
	int result = dw_source_open(&made.source, &path, 1, &made.error);

	dw_source_close(made.source);
	made.source = NULL;
	return result;
}

static int open_bytes(const void *bytes, size_t count)
{
	made_write(&made, bytes, count);
	return open_path(made.path);
}

/* Two processes' worth of everything, small. */
static void make_rich(void)
{
	struct dw_encode_process child;
	struct dw_encode_stream stream;
	uint64_t handle = 7, memory[2] = { 0x1000, 64 };
	double value = 1.5;

	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	for (uint64_t i = 0; i < 20; i++) {
		dw_encode_begin(&made.stream, i * 1000, op);
		dw_encode_begin(&made.stream, i * 1000 + 100, op);
		dw_encode_record(&made.stream, i * 1000 + 150, DW_ALLOC, op, memory, 4);
		dw_encode_record(&made.stream, i * 1000 + 150, DW_ASYNC_BEGIN, op, &handle, 2);
		dw_encode_end(&made.stream, i * 1000 + 200);
		dw_encode_record(&made.stream, i * 1000 + 250, DW_COUNTER, op, &value, 2);
		dw_encode_end(&made.stream, i * 1000 + 300);
		dw_encode_step(&made.process, made.thread, i, i * 1000, i * 1000 + 900, 10, 1);
	}
	dw_encode_hole(&made.process, 72);
	dw_encode_meta(&made.process, "model", "resnet", false);
	dw_encode_clock(&made.process, 5000, 5000, 5000, 10);
	dw_encode_process_init(&child, &made.encode, made.process.id)->pid = 0x7ffffffd;
	uint32_t thread = dw_encode_thread(&child, 200, 0, 500, "child");
	dw_encode_stream_init(&stream, &child, 0, thread);
	dw_encode_begin(&stream, 600, op); /* an id of its parent's */
	dw_encode_end(&stream, 700);
	dw_encode_close(&made.stream);
}

static int count_events(void *context, const struct dw_event *event)
{
	++*(size_t *)context;
	return 0;
}

/* Everything that can be asked, so that sanitizers see it. */
static void ask_all(void)
{
	size_t events = 0;

	CHECK(dw_model_flat(made.model, UINT32_MAX, NULL));
	CHECK(dw_model_tree(made.model, NULL));
	CHECK(dw_model_steps(made.model, NULL));
	CHECK(dw_model_threads(made.model, NULL));
	dw_model_repairs(made.model, &events);
	dw_model_coverage(made.model);
	CHECK_EQ(dw_model_events(made.model, count_events, &events, NULL), 0);
}

TEST(what_is_no_trace_is_refused_with_a_reason)
{
	char zeros[65536] = "", path[] = "/tmp";

	made_init(&made);
	CHECK_EQ(open_path("/nonexistent/x.dwell"), DWELL_E_IO);
	CHECK_HAS(made.error.message, "No such file");
	CHECK_EQ(open_path(path), DWELL_E_NOT_TRACE);
	CHECK_HAS(made.error.message, "directory");
	CHECK_EQ(open_bytes("", 0), DWELL_E_NOT_TRACE);
	CHECK_HAS(made.error.message, "empty");
	CHECK_EQ(open_bytes("{\"traceEvent\": []}", 18), DWELL_E_NOT_TRACE);
	CHECK_HAS(made.error.message, "JSON");
	CHECK_EQ(open_bytes("\x1f\x8b\x08", 3), DWELL_E_NOT_TRACE);
	CHECK_HAS(made.error.message, "gzip");
	CHECK_EQ(open_bytes("\x7f" "ELF\2\1\1\0\0\0\0\0\0\0\0\0\4", 18), DWELL_E_NOT_TRACE);
	CHECK_HAS(made.error.message, "a core file");
	CHECK_EQ(open_bytes(zeros, sizeof zeros), DWELL_E_NOT_TRACE);
	made_close(&made);
}

TEST(a_newer_major_is_refused_and_a_newer_minor_is_read)
{
	make_rich();
	struct dw_head *head = dw_encode_head(&made.encode);
	head->version_minor = 9;
	CHECK_EQ(open_bytes(made.encode.image, dw_encode_bytes(&made.encode)), 0);
	head->version_major = 2;
	CHECK_EQ(open_bytes(made.encode.image, dw_encode_bytes(&made.encode)), DWELL_E_VERSION);
	CHECK_HAS(made.error.message, "format 2.9");
	CHECK_HAS(made.error.message, "up to format 1");
	made_close(&made);
}

/* Processes of older traces have no pid namespace and no birth: their entry is shorter. */
TEST(shorter_processes_of_older_traces_are_read)
{
	size_t shorter = offsetof(struct dw_entry_process, pid_namespace), found = 0;
	const char *path;

	make_rich();
	for (size_t at = 0; at + 8 < dw_encode_bytes(&made.encode); at += 8) {
		struct dw_entry *entry = (struct dw_entry *)(void *)((char *)made.encode.image + at);

		if (entry->tag == DW_ENTRY_TAG(DW_ENTRY_PROCESS) && entry->bytes > shorter) {
			entry->bytes = (uint32_t)shorter;
			memset((char *)entry + shorter, 0, sizeof(struct dw_entry_process) - shorter);
			found++;
		}
	}
	CHECK_EQ(found, 2);
	made_write(&made, made.encode.image, dw_encode_bytes(&made.encode));
	path = made.path;
	REQUIRE(dw_source_open(&made.source, &path, 1, &made.error) == 0);
	CHECK_EQ(made.source->process_count, 2);
	CHECK_EQ(made.source->processes[1].pid, 0x7ffffffd);
	CHECK_EQ(made.source->repair_count, 0);
	CHECK(!made.source->processes[1].alive && !made.source->processes[1].may_write);
	dw_source_close(made.source);
	made.source = NULL;
	made_close(&made);
}

TEST(a_child_of_fork_uses_its_parents_ids)
{
	make_rich();
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made.source->process_count, 2);
	CHECK_EQ(made.source->processes[1].parent, 0);
	CHECK_EQ(made_stat(&made, "op")->count, 41);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 20 * 300 + 100); /* one of 100 in each of 300 */
	CHECK_EQ(made_stat(&made, "op")->nested_ns, 20 * 100);
	CHECK_EQ(made.source->meta_count, 1);
	CHECK_STR(made.source->metas[0].value, "resnet");
	CHECK_EQ(made.source->step_count, 20);
	ask_all();
	made_close(&made);
}

/* The head says how long the file was. */
TEST(a_truncated_copy_is_told_from_a_program_that_was_killed)
{
	make_rich();
	size_t bytes = dw_encode_bytes(&made.encode);
	const char *const *repairs;
	size_t count;

	for (int finished = 0; finished < 2; finished++) {
		dw_encode_head(&made.encode)->end_blocks = finished ? made.encode.blocks : 0;
		REQUIRE(made_open(&made, NULL) == 0);
		CHECK_EQ(made.source->files[0].missing_bytes, 0);
		CHECK_EQ(made.source->repair_count, 0);
		made_close_model(&made);
		REQUIRE(made_open_bytes(&made, bytes - 20000, NULL) == 0);
		CHECK_EQ(made.source->files[0].missing_bytes, 20000);
		REQUIRE(made.source->repair_count >= 1);
		CHECK_HAS(made.source->repairs[0], "truncated copy: 19.5 KiB of");
		repairs = dw_model_repairs(made.model, &count);
		REQUIRE(repairs && count >= 1);
		CHECK_HAS(repairs[0], "truncated copy (19.5 KiB of");
		CHECK(!strstr(repairs[0], "killed"));
		made_close_model(&made);
	}
	/* A cut between two blocks damages no block. Only the head of a finished file shows it. */
	REQUIRE(made_open_bytes(&made, bytes - DW_BLOCK_BYTES, NULL) == 0);
	CHECK_EQ(made.source->files[0].missing_bytes, DW_BLOCK_BYTES);
	made_close_model(&made);
	/* A killed program leaves claims that were never written. */
	dw_encode_head(&made.encode)->end_blocks = 0;
	dw_encode_head(&made.encode)->next_block += 64;
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made.source->files[0].missing_bytes, 0);
	made_close(&made);
}

TEST(a_file_cut_anywhere_is_read_up_to_there)
{
	make_rich();
	size_t bytes = dw_encode_bytes(&made.encode), opened = 0, by = check_is_slow() ? 7 : 1;

	for (size_t length = 0; length <= bytes; length += length % 65536 < 1200 ? by : 4999) {
		int result = made_open_bytes(&made, length, NULL);

		if (result == 0) {
			opened++;
			ask_all();
		} else {
			CHECK_RANGE(length, 0, 65535);
			CHECK(made.error.message[0]);
		}
		made_close_model(&made);
		made.error.message[0] = '\0';
	}
	CHECK(opened > 1000 / by);
	made_close(&made);
}

TEST(a_torn_file_says_what_was_recovered)
{
	size_t count;

	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	for (uint64_t i = 0; i < 20000; i++)
		dw_encode_begin(&made.stream, i * 1000, op), dw_encode_end(&made.stream, i * 1000 + 500);
	REQUIRE(made_open_bytes(&made, dw_encode_bytes(&made.encode) - 40000, NULL) == 0);
	const char *const *repairs = dw_model_repairs(made.model, &count);
	REQUIRE(count == 1);
	CHECK_HAS(repairs[0], "is a truncated copy (39.1 KiB of 384 KiB are missing; copy it again): recovered 1");
	CHECK_HAS(repairs[0], "ranges, the last at 0.0 s; 1 range was open");
	made_close(&made);
}

TEST(damaged_bytes_do_no_harm)
{
	uint64_t state = 12345;

	make_rich();
	size_t bytes = dw_encode_bytes(&made.encode);
	char *good = malloc(bytes);
	REQUIRE(good);
	memcpy(good, made.encode.image, bytes);
	int rounds = check_is_slow() ? 100 : 600;

	for (int round = 0; round < rounds; round++) {
		memcpy(made.encode.image, good, bytes);
		for (int i = 0; i < 1 + round % 16; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			size_t block = (state >> 33) % (bytes / 65536);
			size_t at = block * 65536 + (state >> 40) % (i % 2 ? 2048 : 128);
			made.encode.image[at] = (char)(state >> 56);
		}
		if (made_open_bytes(&made, bytes, NULL) == 0)
			ask_all();
		made_close_model(&made);
	}
	free(good);
	made_close(&made);
}

TEST(summarised_steps_are_read)
{
	struct dw_entry_steps *entry;

	made_init(&made);
	for (uint64_t i = 0; i < 3; i++)
		dw_encode_step(&made.process, made.thread, i, i * 1000, i * 1000 + 900, 0, 1);
	for (uint64_t i = 0; i < 2; i++) {
		entry = dw_encode_steps(&made.process, made.thread, 3 + 100 * i, 100);
		REQUIRE(entry);
		entry->start_ticks = 3000 + 100000 * i;
		entry->end_ticks = entry->start_ticks + 99000;
		entry->step_ticks = 90000;
		entry->shortest_ticks = 500;
		entry->longest_ticks = 1500;
		entry->recorded = 60;
		entry->cpu_ns = 7;
		entry->cpu_count = 1;
		entry->durations[7] = 100;
	}
	/* Reserved, and killed before the first step was added; nobody's; the open step, once
	 * counted already and once not. */
	REQUIRE(dw_encode_steps(&made.process, made.thread, 203, 0));
	REQUIRE(dw_encode_steps(&made.process, 0xfffff, 203, 5));
	dw_encode_step(&made.process, made.thread, 202, 201000, 0, 0, 1);
	dw_encode_step(&made.process, made.thread, 203, 202000, 0, 0, 1);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made.source->step_count, 4);
	CHECK_EQ(made.source->steps[3].number, 203);
	CHECK(made.source->steps[3].open);
	REQUIRE(made.source->step_summary_count == 2);
	for (uint64_t i = 0; i < 2; i++) {
		const struct dw_source_step_summary *summary = &made.source->step_summaries[i];

		CHECK_EQ(summary->first_number, 3 + 100 * i);
		CHECK_EQ(summary->count, 100);
		CHECK_EQ(summary->recorded, 60);
		CHECK_EQ(summary->start_ns, 3000 + 100000 * i);
		CHECK_EQ(summary->end_ns, 102000 + 100000 * i);
		CHECK_EQ(summary->step_ns, 90000);
		CHECK_EQ(summary->shortest_ns, 500);
		CHECK_EQ(summary->longest_ns, 1500);
		CHECK_EQ(summary->cpu_count, 1);
		CHECK_EQ(summary->durations[7], 100);
	}
	CHECK_EQ(made.source->end_ns, 202000);
	made_close(&made);
}

/* A program that is killed while it adds a step: the sums, then `end_ticks`, then `count`, then the step's entry is free. The step
 * is there once, wherever the program is killed. */
TEST(a_step_that_was_being_summarised_is_there_once)
{
	for (int written = 0; written < 4; written++) {
		struct dw_entry_steps *entry;

		made_init(&made);
		entry = dw_encode_steps(&made.process, made.thread, 0, 10 + (written > 2));
		REQUIRE(entry);
		entry->end_ticks = written > 1 ? 10900 : 9900;
		entry->step_ticks = 9000;
		entry->shortest_ticks = entry->longest_ticks = 900;
		entry->durations[7] = 10 + (written > 0);
		for (uint64_t i = 10; i < 13; i++)
			dw_encode_step(&made.process, made.thread, i, i * 1000, i * 1000 + 900, 0, 1);
		REQUIRE(made_open(&made, NULL) == 0);
		REQUIRE(made.source->step_summary_count == 1);
		CHECK_EQ(made.source->step_count, written > 1 ? 2 : 3);
		CHECK_EQ(made.source->step_summaries[0].count + made.source->step_count, 13);
		made_close(&made);
	}
}

TEST(gaps_are_marked)
{
	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	dw_encode_begin(&made.stream, 10, op);
	dw_encode_end(&made.stream, 20);
	dw_encode_gap(&made.stream, 5);
	dw_encode_begin(&made.stream, 30, op);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(made.source->stream_count == 1 && made.source->streams[0].chunk_count == 2);
	CHECK(!made.source->streams[0].chunks[0].gap_before);
	CHECK(made.source->streams[0].chunks[1].gap_before);
	CHECK_EQ(made.source->streams[0].chunks[1].number, 7);
	made_close(&made);
}

TEST(side_files_are_gathered_and_clocks_aligned)
{
	char folder[] = "/tmp/dwell-test-XXXXXX", paths[2][128];
	struct dwell_error error;
	const char *path = paths[0];

	REQUIRE(mkdtemp(folder));
	snprintf(paths[0], sizeof paths[0], "%s/run.dwell", folder);
	snprintf(paths[1], sizeof paths[1], "%s/run.host2.77.abcd0123.dwell", folder);
	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(paths[i], "wb");

		made_init(&made);
		struct dw_head *head = dw_encode_head(&made.encode);
		memset(head->run_id, 9, sizeof head->run_id);
		head->clock_kind = DW_CLOCK_TSC;
		/* The truth is 2.5e9 and 1e9; an estimate is good to 0.1%. */
		head->ticks_per_second = i ? 2499000000u : 999500000u;
		head->start_ticks = 1000;
		head->start_monotonic_ns = 5;
		head->start_realtime_ns = 1000000000 + (uint64_t)i * 250; /* the second 250 ns later */
		uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
		dw_encode_clock(&made.process, 1000 + (i ? 2500000000u : 1000000000u), 1000000005,
		                2000000000 + (uint64_t)i * 250, 100);
		dw_encode_begin(&made.stream, 2000, op);
		dw_encode_end(&made.stream, 2000 + (i ? 250000 : 100000));
		dw_encode_close(&made.stream);
		REQUIRE(file && fwrite(made.encode.image, dw_encode_bytes(&made.encode), 1, file) == 1);
		fclose(file);
		made_close(&made);
	}
	memset(&made, 0, sizeof made);
	made.file = -1;
	REQUIRE(dw_source_open(&made.source, &path, 1, &error) == 0);
	CHECK_EQ(made.source->file_count, 2);
	CHECK_NEAR(made.source->files[0].clock.ns_per_tick, 1.0, 1e-9);
	CHECK_NEAR(made.source->files[1].clock.ns_per_tick, 0.4, 1e-9);
	CHECK_EQ(made.source->files[1].clock.start_ns, 250);
	CHECK_RANGE(made.source->files[1].clock.error_ns, 200, 1000);
	REQUIRE(dw_model_create(&made.model, made.source, NULL, &error) == 0);
	CHECK_EQ(made_stat(&made, "op")->count, 2);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 200000);
	CHECK_EQ(dw_source_ns(&made.source->files[1].clock, 3500), 1250);
	made_close(&made);
	unlink(paths[0]);
	unlink(paths[1]);
	rmdir(folder);
}

/* Writes a CLOCK entry for each second, at 2 ticks a ns. After `second`, the monotonic clock stops for
 * `pause_ns` while the ticks continue. */
static void make_clocks(uint64_t seconds, uint64_t second, uint64_t pause_ns)
{
	struct dw_head *head;

	made_init(&made);
	head = dw_encode_head(&made.encode);
	head->clock_kind = DW_CLOCK_TSC;
	head->ticks_per_second = 2000100000; /* the estimate is 5e-5 off */
	head->start_ticks = 1000;
	head->start_monotonic_ns = 500;
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	for (uint64_t i = 1; i <= seconds; i++) {
		uint64_t ticks = 1000 + i * 2000000000u + (i > second ? 2 * pause_ns : 0);

		dw_encode_clock(&made.process, ticks, 500 + i * 1000000000u, i * 1000000000u, 60);
	}
	uint64_t last = 1000 + seconds * 2000000000u + 2 * pause_ns;
	dw_encode_begin(&made.stream, last - 2000000, op); /* 1 ms, long after the pause */
	dw_encode_end(&made.stream, last);
	REQUIRE(made_open(&made, NULL) == 0);
}

TEST(a_steady_clock_has_one_rate)
{
	const struct dw_source_clock *clock;

	make_clocks(20, 100, 0);
	clock = &made.source->files[0].clock;
	CHECK_EQ(clock->piece_count, 0);
	CHECK_EQ(made.source->files[0].clock_jumps, 0);
	CHECK_EQ(made.source->repair_count, 0);
	CHECK_NEAR(clock->ns_per_tick, 0.5, 1e-9);
	CHECK_NEAR((double)dw_source_ns(clock, 40000001000u), 20e9, 2);
	made_close(&made);
}

TEST(a_pause_shifts_no_duration)
{
	const struct dw_source_clock *clock;

	make_clocks(20, 10, 3000000000u); /* 13% of the run */
	clock = &made.source->files[0].clock;
	CHECK_EQ(made.source->files[0].clock_jumps, 1);
	CHECK_NEAR((double)made.source->files[0].clock_jump_ns, 3e9, 1e6);
	CHECK_EQ(made.source->repair_count, 1);
	CHECK_HAS(made.source->repairs[0], "clock jumped 1 time, by up to 3 s");
	CHECK_NEAR(clock->ns_per_tick, 0.5, 1e-9);
	CHECK_NEAR((double)made_stat(&made, "op")->total_ns, 1e6, 2);
	CHECK_EQ(clock->piece_count, 4); /* before, the pause, after it, after the last pairing */
	for (uint64_t i = 0; i <= 20; i++) {
		uint64_t ticks = 1000 + i * 2000000000u + (i > 10 ? 6000000000u : 0);

		CHECK_NEAR((double)dw_source_ns(clock, ticks), (double)i * 1e9, 2);
		CHECK_NEAR((double)dw_source_ticks(clock, i * 1000000000u), (double)ticks, 4);
	}
	/* Time never runs back, wherever one asks. */
	for (uint64_t ticks = 0, last = 0; ticks < 50000000000u; ticks += 77777777) {
		CHECK(dw_source_ns(clock, ticks) >= last);
		last = dw_source_ns(clock, ticks);
	}
	made_close(&made);
}

TEST(two_pairings_that_disagree_with_the_estimate_lose)
{
	make_clocks(1, 0, 80000000); /* one pairing, 8% off */
	CHECK_EQ(made.source->files[0].clock_jumps, 1);
	CHECK_NEAR(made.source->files[0].clock.ns_per_tick, 1e9 / 2000100000.0, 1e-12);
	CHECK_NEAR((double)made_stat(&made, "op")->total_ns, 1e6, 60);
	made_close(&made);
}

TEST(a_writer_that_lives_makes_the_trace_live)
{
	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	struct dw_head *head = dw_encode_head(&made.encode);
	char text[40] = "", digits[33] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	struct timespec now;
	int count = 0;

	REQUIRE(file && fgets(text, sizeof text, file));
	fclose(file);
	for (char *at = text; *at && count < 32; at++)
		if (*at != '-')
			digits[count++] = *at;
	for (int i = 0; i < 16; i++)
		sscanf(digits + 2 * i, "%2hhx", &head->boot_id[i]);
	gethostname(head->hostname, sizeof head->hostname - 1);
	clock_gettime(CLOCK_MONOTONIC, &now);
	head->start_ticks = head->start_monotonic_ns =
	    (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	uint64_t start = head->start_ticks;
	struct dw_entry_process *entry = dw_encode_process_entry(&made.process);
	entry->pid = (uint32_t)getpid();
	entry->start_ticks = start;
	dw_encode_begin(&made.stream, start + 10, op);
	dw_encode_end(&made.stream, start + 20);
	REQUIRE(made_open_bytes(&made, dw_encode_bytes(&made.encode), NULL) == 0);
	CHECK(made.source->live);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 10);
	ask_all();
	made_close_model(&made);
	dw_encode_process_entry(&made.process)->start_ticks = start - 1000000000; /* long before */
	dw_encode_head(&made.encode)->start_monotonic_ns -= 60000000000u;
	REQUIRE(made_open_bytes(&made, dw_encode_bytes(&made.encode), NULL) == 0);
	CHECK(!made.source->live); /* the process that has the pid now began later */
	made_close(&made);
}

struct asyncs {
	uint64_t starts[8], ends[8];
	unsigned count, open;
};

static int keep_asyncs(void *context, const struct dw_event *event)
{
	struct asyncs *asyncs = context;

	if (event->type == DW_EVENT_ASYNC && asyncs->count < 8) {
		asyncs->starts[asyncs->count] = event->start_ns;
		asyncs->ends[asyncs->count++] = event->end_ns;
		asyncs->open += event->open;
	}
	return 0;
}

/* A handle is given back and used again within one ns; and a range may take no time. */
TEST(asynchronous_ranges_that_touch_are_two)
{
	struct asyncs seen = { .count = 0 };
	uint64_t handle = 7;

	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "send");
	dw_encode_record(&made.stream, 100, DW_ASYNC_BEGIN, op, &handle, 2);
	dw_encode_record(&made.stream, 200, DW_ASYNC_END, op, &handle, 2);
	dw_encode_record(&made.stream, 200, DW_ASYNC_BEGIN, op, &handle, 2);
	dw_encode_record(&made.stream, 300, DW_ASYNC_END, op, &handle, 2);
	dw_encode_record(&made.stream, 400, DW_ASYNC_BEGIN, op, &handle, 2);
	dw_encode_record(&made.stream, 400, DW_ASYNC_END, op, &handle, 2);
	dw_encode_record(&made.stream, 900, DW_MARK, op, NULL, 0);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(dw_model_events(made.model, keep_asyncs, &seen, NULL), 0);
	CHECK_EQ(seen.count, 3);
	CHECK_EQ(seen.open, 0);
	CHECK_EQ(seen.ends[0], 200);
	CHECK_EQ(seen.starts[1], 200);
	CHECK_EQ(seen.ends[1], 300);
	CHECK_EQ(seen.ends[2], 400);
	made_close(&made);
}

/* A killed process leaves a hole of the size that it reserved. Its text looks like a STRING. */
TEST(what_lies_in_a_hole_is_no_entry)
{
	struct dw_entry *hole, *inside;

	made_init(&made);
	hole = dw_encode_entry(&made.process, DW_ENTRY_STRING, dw_encode_new_id(&made.encode), 40, 64);
	inside = hole + 1;
	*inside = (struct dw_entry){ DW_ENTRY_TAG(DW_ENTRY_STRING), 32, hole->id, 3 };
	memcpy(inside + 1, "bad", 3);
	hole->tag = 0;
	made_op(&made, DWELL_CATEGORY_OPERATOR, "good");
	uint32_t unknown = hole->id;
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK(made.source->files[0].strings[unknown] == NULL);
	CHECK_STR(made.source->files[0].strings[unknown + 1], "good");
	made_close(&made);
}

TEST(the_last_value_of_a_key_counts)
{
	struct dw_source_meta metas[] = { { 0, "a", "1", false }, { 1, "a", "2", false }, { 0, "a", "3", false }, { 0, "b", "4", false },
		{ 1, "c", "5", false } };
	const struct dw_source source = { .metas = metas, .meta_count = sizeof metas / sizeof *metas };

	CHECK_STR(dw_source_meta(&source, 0, "a"), "3");
	CHECK_STR(dw_source_meta(&source, 1, "a"), "2");
	CHECK(dw_source_meta(&source, 1, "b") == NULL);
	CHECK_STR(dw_source_meta(&source, DW_NO_INDEX, "a"), "3");
	CHECK_STR(dw_source_meta(&source, DW_NO_INDEX, "c"), "5");
	CHECK(dw_source_meta(&source, DW_NO_INDEX, "d") == NULL);
}

CHECK_MAIN
