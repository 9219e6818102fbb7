/* What is reported of a job whose summaries are made here, look by look. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "watch_job.h"

TEST(ranks_that_stop_hang_and_go_on)
{
	struct job job;

	make(&job);
	CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "");
	for (int i = 0; i < RANKS; i++)
		if (i != 2)
			step(&job, i, 100, 100, 20);
	CHECK_STR(look(&job), "hang 2");
	CHECK_STR(look(&job), "hang 0, hang 1, hang 3, hang 4, hang 5, hang 6, hang 7");
	CHECK_STR(look(&job), "");
	CHECK_HAS(usual_look(&job), "hang 0 over, hang 1 over");
	dw_watch_reset(&job.watch);
}

TEST(a_job_that_hangs_already_is_seen_at_the_first_look)
{
	struct job job;

	make(&job);
	for (int i = 0; i < RANKS; i++) {
		step(&job, i, 100, 100, 20);
		job.ranks[i].where_known = true;
		job.ranks[i].end_ns = start + 4 * second;
		job.ranks[i].silent_ns = 50 * second;
	}
	CHECK_HAS(look(&job), "hang 0, hang 1");
	CHECK_EQ(job.watch.ranks[0].written_ns - job.watch.ranks[0].moved_ns, 56 * second);
	dw_watch_reset(&job.watch);
}

/* A rank that asks again and again whether a collective has ended writes records all the time. */
TEST(a_rank_that_writes_records_while_it_waits_hangs_since_it_waits)
{
	struct dw_summary_open open[2] = { { "epoch", false, 500 * second, 0 }, { "all_reduce", true, 12 * second, 0 } };
	struct job job;

	make(&job);
	for (int i = 0; i < RANKS; i++) {
		step(&job, i, 100, 100, 20);
		job.ranks[i].where_known = true;
		job.ranks[i].silent_ns = 1000;
		job.ranks[i].open = open;
		job.ranks[i].open_count = 2;
		job.ranks[i].end_ns = start + 10 * second;
	}
	CHECK_HAS(look(&job), "hang 0, hang 1");
	CHECK_EQ(job.watch.ranks[0].written_ns - job.watch.ranks[0].moved_ns, 12 * second);
	dw_watch_reset(&job.watch);
}

TEST(a_process_that_ends_within_a_step_is_lost_and_one_that_ends_after_it_is_not)
{
	struct job job;

	make(&job);
	usual_look(&job);
	job.gone[1] = job.gone[5] = true;
	job.ranks[5].where_known = true;
	CHECK_STR(usual_look(&job), "lost 5");
	CHECK_STR(usual_look(&job), "");
	dw_watch_reset(&job.watch);
}

/* The last summary that dwell run writes has no memory of the process. */
TEST(processes_of_another_machine_that_ended_and_one_that_ended_within_a_step)
{
	struct job job;

	make(&job);
	for (int i = 0; i < RANKS; i++) {
		job.ranks[i].resident_bytes = 1000000;
		job.ranks[i].left_bytes = UINT64_C(4000000000);
		job.ranks[i].where_known = true;
		job.ranks[i].end_ns = job.now + 10 * second;
	}
	CHECK_STR(usual_look(&job), "");
	for (int i = 0; i < RANKS; i++)
		job.ranks[i].end_ns = job.now + 10 * second;
	job.ranks[1].resident_bytes = job.ranks[1].left_bytes = job.ranks[5].resident_bytes = job.ranks[5].left_bytes = 0;
	job.ranks[5].last_open = true;
	CHECK_STR(usual_look(&job), "lost 5");
	job.silent[1] = job.silent[5] = true;
	for (int k = 0; k < 10; k++) {
		for (int i = 0; i < RANKS; i++)
			job.ranks[i].end_ns = job.now + 10 * second;
		CHECK_STR(usual_look(&job), "");
	}
	dw_watch_reset(&job.watch);
}

/* A launcher ends the other ranks when one was killed: at the first look this one is dead, and they live. One file has all. */
TEST(a_rank_that_was_dead_at_the_first_look_is_lost_first)
{
	struct job job;

	make(&job);
	job.watch.path = "job.sum";
	for (int i = 0; i < RANKS; i++) {
		job.ranks[i].resident_bytes = i == 3 ? 0 : 1000000;
		job.ranks[i].where_known = job.ranks[i].last_open = true;
		job.ranks[i].end_ns = job.now + 10 * second;
		job.ranks[i].silent_ns = i == 3 ? second : 0;
	}
	CHECK_STR(usual_look(&job), "lost 3");
	for (int i = 0; i < RANKS; i++)
		job.ranks[i].resident_bytes = 0;
	CHECK_STR(look(&job), "lost 0, lost 1, lost 2, lost 4, lost 5, lost 6, lost 7");
	CHECK_HAS(job.text, "rank 3 on a failed first");
	dw_watch_reset(&job.watch);
}

/* Rank 3 is killed between two steps, and the launcher that dwell run started says that a process failed. */
TEST(of_a_launcher_that_failed_the_rank_with_the_oldest_record_is_first)
{
	struct job job;

	make(&job);
	for (int i = 0; i < RANKS; i++)
		job.ranks[i].resident_bytes = 1000000;
	usual_look(&job);
	for (int i = 0; i < RANKS; i++) {
		job.watch.ranks[i].awaited = true;
		job.ranks[i].resident_bytes = 0;
	}
	CHECK_STR(look(&job), ""); /* dwell run has not said yet how it ended */
	for (int i = 0; i < RANKS; i++) {
		job.watch.ranks[i].awaited = false;
		job.ranks[i].well = DW_WELL_LAUNCHER_FAILED;
		job.ranks[i].where_known = true;
		job.ranks[i].end_ns = job.now;
		job.ranks[i].silent_ns = i == 3 ? second : 0;
	}
	look(&job);
	CHECK_HAS(job.said, "lost 3, lost 0, lost 1, lost 2, lost 4, lost 5, lost 6, lost 7");
	CHECK(!strstr(job.said, "hang"));
	dw_watch_reset(&job.watch);
}

/* Rank 3 is killed between two steps. The others end in the next step, or wait there; or (2) all ended after the same
 * step. */
TEST(a_process_that_failed_is_lost_after_its_last_step_too)
{
	struct job job;

	make(&job);
	usual_look(&job);
	for (int i = 0; i < RANKS; i++)
		job.gone[i] = true;
	job.ranks[2].failed = DW_SUMMARY_SIGNAL + 9;
	job.ranks[4].failed = 3;
	CHECK_STR(look(&job), "lost 2, lost 4");
	CHECK_HAS(job.text, "its process ended after step 100, with exit status 3");
	CHECK_STR(look(&job), "");
	dw_watch_reset(&job.watch);
}

/* The file of another machine says that the process does not live. */
TEST(a_file_that_says_that_its_process_failed_is_a_lost_rank)
{
	struct job job;

	make(&job);
	usual_look(&job);
	job.ranks[2].failed = DW_SUMMARY_SIGNAL + 9;
	CHECK_STR(usual_look(&job), "lost 2");
	CHECK_HAS(job.text, "its process ended after step 200, by signal 9 (Killed)");
	dw_watch_reset(&job.watch);
}

TEST(a_process_that_ended_between_steps_is_lost_when_others_need_it)
{
	for (int ends = 0; ends < 3; ends++) {
		struct job job;

		make(&job);
		for (int i = 0; i < RANKS; i++)
			job.ranks[i].resident_bytes = job.ranks[i].left_bytes = UINT64_C(4000000000);
		usual_look(&job);
		usual_look(&job);
		job.ranks[3].resident_bytes = job.ranks[3].left_bytes = 0;
		for (int i = 0; i < RANKS; i++)
			if (ends == 2)
				step(&job, i, 100, 100, 20);
			else
				job.ranks[i].last_step += i != 3;
		CHECK_STR(look(&job), "");
		job.silent[3] = true;
		for (int i = 0; i < RANKS; i++)
			if (i != 3 && ends != 1) {
				job.ranks[i].resident_bytes = job.ranks[i].left_bytes = 0;
				job.ranks[i].last_open = !ends && i != 5;
			}
		if (ends == 1)
			CHECK_STR(look(&job), "lost 3, hang 0, hang 1, hang 2, hang 4, hang 5, hang 6, hang 7");
		else
			CHECK_STR(look(&job), ends ? "" : "lost 0, lost 1, lost 2, lost 3, lost 4, lost 6, lost 7");
		dw_watch_reset(&job.watch);
	}
}

/* Where the begin of a function is the step, the last one never ends. A launcher's status counts for ranks that did all
 * steps. */
TEST(a_process_that_ended_with_status_0_within_its_last_step_is_not_lost)
{
	for (int launched = 0; launched < 2; launched++) {
		struct job job;

		make(&job);
		for (int i = 0; i < RANKS; i++)
			job.ranks[i].resident_bytes = job.ranks[i].left_bytes = UINT64_C(4000000000);
		usual_look(&job);
		usual_look(&job);
		for (int i = 0; i < RANKS; i++) {
			job.ranks[i].resident_bytes = job.ranks[i].left_bytes = 0;
			job.ranks[i].last_open = true;
			job.ranks[i].well = launched ? DW_WELL_LAUNCHER : DW_WELL_ITSELF;
			job.ranks[i].last_step -= launched && i == 6 ? 50 : 0;
		}
		CHECK_STR(look(&job), launched ? "lost 6" : "");
		dw_watch_reset(&job.watch);
	}
}

/* Rank 5 was killed; the launcher ended the others. */
TEST(the_rank_that_failed_first_is_reported_first)
{
	struct dw_summary_open waits = { "all_reduce", true, second, 0 };
	struct job job;

	make(&job);
	usual_look(&job);
	for (int i = 0; i < RANKS; i++) {
		job.ranks[i].failed = DW_SUMMARY_SIGNAL + (i == 5 ? 11 : 15);
		job.ranks[i].where_known = true;
		job.ranks[i].end_ns = job.now + 10 * second;
		job.ranks[i].silent_ns = (i == 5 ? 1 : 2) * second;
		job.ranks[i].open = &waits;
		job.ranks[i].open_count = i != 5;
	}
	CHECK_STR(usual_look(&job), "lost 5, lost 0, lost 1, lost 2, lost 3, lost 4, lost 6, lost 7");
	CHECK_HAS(job.text, "by signal 15 (Terminated); rank 5 on a failed first");
	dw_watch_reset(&job.watch);
}

/* The processes of these ranks end, as the caller sees; their files are not found any more. */
static void end_ranks(struct job *job, int from, int to)
{
	for (size_t i = 0; i < job->watch.count; i++)
		job->watch.ranks[i].gone |= job->watch.ranks[i].rank >= from && job->watch.ranks[i].rank < to;
	for (int i = from; i < to; i++)
		job->silent[i] = true;
}

/* These ranks have new processes, which count their steps from 0. */
static void start_ranks(struct job *job, int from, int to)
{
	for (int i = from; i < to; i++) {
		struct dw_summary_rank *rank = &job->ranks[i];

		job->silent[i] = false;
		job->spans[i] = (struct dw_summary_span){ .index = 0 };
		rank->pid += 1000;
		rank->steps = rank->last_step = rank->ns = 0;
	}
}

TEST(a_job_that_starts_again_with_the_same_ranks_has_no_event)
{
	struct job job;

	make(&job);
	for (int generation = 0; generation < 3; generation++) {
		for (int k = 0; k < 20; k++)
			CHECK_STR(usual_look(&job), "");
		end_ranks(&job, 0, RANKS);
		CHECK_STR(look(&job), "");
		start_ranks(&job, 0, RANKS);
	}
	CHECK_EQ(job.watch.count, 3 * RANKS);
	dw_watch_reset(&job.watch);
}

TEST(a_job_that_shrinks_and_grows_has_no_event)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 20; k++)
		CHECK_STR(usual_look(&job), "");
	end_ranks(&job, 4, RANKS);
	for (int k = 0; k < 20; k++)
		CHECK_STR(usual_look(&job), "");
	start_ranks(&job, 4, RANKS);
	for (int k = 0; k < 20; k++)
		CHECK_STR(usual_look(&job), "");
	for (int i = 0; i < RANKS; i++) /* and a hang is seen then as before */
		step(&job, i, i == 5 ? 0 : 100, 100, 20);
	CHECK_STR(look(&job), "hang 5");
	dw_watch_reset(&job.watch);
}

TEST(clocks_that_differ_by_minutes_make_no_hang_and_hide_none)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 30; k++) {
		for (int i = 0; i < RANKS; i++) {
			bool hangs = k >= 26 && i == 2;

			job.ranks[i].where_known = true;
			job.ranks[i].end_ns = job.now + 10 * second + (uint64_t)(i - 4) * (i % 2 ? 120 : 15) * second;
			job.ranks[i].silent_ns = hangs ? (uint64_t)(k - 25) * 10 * second : second / 10;
			step(&job, i, hangs ? 0 : 100, 100, 20);
		}
		CHECK_STR(look(&job), k == 26 ? "hang 2" : "");
	}
	dw_watch_reset(&job.watch);
}

TEST(a_folder_that_stalls_makes_no_hang_and_hides_none)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 40; k++) {
		/* The copies of look 10 come 20 seconds after they were made, and those meanwhile do not. */
		bool stalls = k == 8 || k == 9, late = k == 10, hangs = k >= 30;

		for (int i = 0; i < RANKS; i++) {
			job.silent[i] = stalls;
			job.ranks[i].where_known = job.ranks[i].followed = true;
			job.ranks[i].end_ns = job.now + (late ? 0 : 10) * second - (late ? 10 : 0) * second;
			job.ranks[i].silent_ns = hangs && i == 2 ? (uint64_t)(k - 29) * 10 * second : second / 10;
			if (!stalls)
				step(&job, i, late || (hangs && i == 2) ? 0 : 100, 100, 20);
		}
		CHECK_STR(look(&job), k == 30 ? "hang 2" : "");
	}
	dw_watch_reset(&job.watch);
}

TEST(a_file_that_is_not_written_any_more_is_a_lost_rank)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 9; k++)
		usual_look(&job);
	job.silent[3] = true;
	CHECK_STR(usual_look(&job), "");
	usual_look(&job);
	usual_look(&job);
	CHECK_STR(usual_look(&job), "lost 3");
	job.silent[3] = false;
	CHECK_HAS(usual_look(&job), "lost 3 over");
	usual_look(&job);
	job.silent[3] = true; /* the time in which it was lost is no usual time */
	for (int k = 0; k < 3; k++)
		CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "lost 3");
	dw_watch_reset(&job.watch);
}

TEST(a_rank_that_works_longer_is_slow_after_three_looks)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 6; k++) {
		for (int i = 0; i < RANKS; i++)
			step(&job, i, 60, 130, i == 6 ? 10 : 50);  /* they wait for it */
		CHECK_STR(look(&job), k == 3 ? "slow 6" : ""); /* the first look has nothing to compare with */
	}
	CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "slow 6 over");
	dw_watch_reset(&job.watch);
}

TEST(steps_of_a_job_that_take_longer_than_before)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 10; k++)
		CHECK_STR(usual_look(&job), "");
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < RANKS; i++)
			step(&job, i, 40, 250, 20);
		CHECK_STR(look(&job), k == 2 ? "slower -1" : "");
	}
	CHECK_STR(usual_look(&job), "slower -1 over");
	dw_watch_reset(&job.watch);
}

/* Rank 3 takes 30 MB in each look, of 3 GB that its machine has left. */
TEST(memory_that_ends_within_an_hour)
{
	struct job job;
	uint64_t left = UINT64_C(3000000000);

	make(&job);
	for (int k = 0; k < 10; k++) {
		left -= 30000000;
		for (int i = 0; i < RANKS; i++) {
			job.ranks[i].resident_bytes = 1000000000 + (i == 3 ? UINT64_C(3000000000) - left : 0);
			job.ranks[i].left_bytes = left;
		}
		CHECK_STR(usual_look(&job), k == 7 ? "memory 3" : "");
	}
	for (int k = 0; k < 8; k++) /* nothing becomes less any more */
		CHECK_STR(usual_look(&job), k == 6 ? "memory 3 over" : "");
	dw_watch_reset(&job.watch);
}

/* Rank 3 takes 60 MB in each look, and other programs of the machine take and leave up to 400 MB. */
TEST(memory_that_a_rank_takes_while_that_of_the_machine_comes_and_goes)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 10; k++) {
		for (int i = 0; i < RANKS; i++) {
			job.ranks[i].resident_bytes = 1000000000 + (i == 3 ? (uint64_t)k * 60000000 : (uint64_t)(k % 3) * 1000000);
			job.ranks[i].left_bytes = UINT64_C(4000000000) - (uint64_t)k * 60000000 - (uint64_t)(k * 7 % 3) * 200000000;
		}
		CHECK_STR(usual_look(&job), k == 7 ? "memory 3" : "");
	}
	dw_watch_reset(&job.watch);
}

/* The trace is full: as many old steps leave its summary as new ones come. */
TEST(a_slow_rank_is_found_where_old_steps_are_lost)
{
	struct dw_summary_span spans[RANKS][4];
	struct job job;

	make(&job);
	for (uint64_t k = 0; k < 6; k++) {
		for (int i = 0; i < RANKS; i++) {
			for (uint64_t n = 0; n < 4; n++) {
				spans[i][n] =
					(struct dw_summary_span){ .index = 10 * k + n, .steps = 60, .ns = 60 * UINT64_C(130000000) };
				spans[i][n].part_ns[DW_PART_COMMUNICATION] = 60 * UINT64_C(1000000) * (i == 6 ? 10 : 50);
			}
			job.ranks[i].spans = spans[i];
			job.ranks[i].span_count = 4;
			job.ranks[i].steps = 240;
			job.ranks[i].ns = 240 * UINT64_C(130000000);
			job.ranks[i].last_step = 60 * (10 * k + 4);
		}
		CHECK_STR(look(&job), k == 3 ? "slow 6" : "");
	}
	dw_watch_reset(&job.watch);
}

/* While other programs use the machine, what a rank works differs by 30% from look to look. Rank 3 takes twice as long
 * then. */
TEST(a_rank_that_takes_twice_as_long_after_noisy_looks_is_slow_within_six_looks)
{
	for (int seed = 0; seed < 20; seed++) {
		int found = 0, looks = 0;
		struct job job;

		make(&job);
		for (int k = 0; k < 4; k++) {
			for (int i = 0; i < RANKS; i++)
				step(&job, i, 60, 100 + (seed + k * 5 + i * 3) % 7 * 15, 10);
			look(&job);
		}
		for (; looks < 6 && !found; looks++) {
			for (int i = 0; i < RANKS; i++)
				step(&job, i, 60, 200, i == 3 ? 10 : 105 + (seed + i + looks) % 5);
			found = strcmp(look(&job), "slow 3") == 0;
		}
		CHECK(found);
		dw_watch_reset(&job.watch);
	}
}

/* They came soon after each other, and the third one takes as long as usual. */
TEST(a_rank_is_not_lost_after_its_first_files)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 8; k++) {
		for (int i = 0; i < RANKS; i++)
			job.silent[i] = k >= 2 && k < 7;
		CHECK_STR(usual_look(&job), "");
	}
	dw_watch_reset(&job.watch);
}

/* The folder is full, so no summary is written for ten looks. This pause must not count as the usual time between two
 * summaries: a rank that is killed afterwards would be named later. */
TEST(a_killed_rank_is_lost_as_soon_after_the_folder_was_full)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 40; k++) {
		for (int i = 0; i < RANKS; i++)
			job.silent[i] = (k >= 10 && k < 20) || (i == 3 && k >= 25);
		usual_look(&job);
		if (k == 24)
			job.events = 0;
		CHECK_EQ(strstr(job.said, "lost 3") && !strstr(job.said, "over"), k == 13 || k == 28);
	}
	CHECK_EQ(job.events, 1);
	dw_watch_reset(&job.watch);
}

/* ---- what is read of a file ------------------------------------------------------------------------- */

static void glance_found(void *context, const struct dw_glance *glance)
{
	struct dw_glance *to = context;

	*to = *glance;
}

TEST(a_glance_at_a_file_sees_what_the_whole_summary_says)
{
	static struct dw_glance scratch, of_file, of_rank;
	struct dw_summary_span spans[3] = { { .index = 4, .steps = 2 },
		                                { .index = 5, .steps = 2 },
		                                { .index = 7, .steps = 1 } };
	struct dw_summary_bucket buckets[2] = { { 70, 3 }, { 75, 2 } };
	struct dw_summary_open open[2] = { { "step", false, 9, 0 }, { "eval", false, 5, DW_PAUSE_EVALUATION } };
	struct dw_summary_collective collectives[2] = {
		{ .group = "world", .operation = "all_reduce", .last_sequence = 9, .open = true },
		{ .group = "pipe", .operation = "broadcast", .last_sequence = 4 }
	};
	struct dw_summary_name name = { "aten::mm", false, 5, 5000 };
	struct dw_summary_rank rank = { .job = "job",
		                            .host = "a",
		                            .command = "c",
		                            .rank = 3,
		                            .pid = 7,
		                            .steps = 5,
		                            .last_step = 15,
		                            .durations = buckets,
		                            .duration_count = 2,
		                            .span_log2 = 1,
		                            .spans = spans,
		                            .span_count = 3,
		                            .names = &name,
		                            .name_count = 1,
		                            .where_known = true,
		                            .end_ns = start,
		                            .silent_ns = 12,
		                            .open = open,
		                            .open_count = 2,
		                            .collectives = collectives,
		                            .collective_count = 2,
		                            .resident_bytes = 100,
		                            .left_bytes = 200,
		                            .cpu_ns = 300,
		                            .failed = 265,
		                            .followed = true,
		                            .unrecorded =
		                                &(struct dw_unrecorded){ .id = "nccl", .file = "libnccl.so", .why = "" },
		                            .unrecorded_count = 1 };
	struct dw_summary summary = { .ranks = &rank, .count = 1 };
	struct dw_proto proto = { 0 };
	struct dw_glance_sum of_newest[2], sum[2];
	uint64_t newest[2];

	for (unsigned i = 0; i < 3; i++) {
		spans[i].part_ns[DW_PART_FORWARD] = 1000 * (i + 1);
		spans[i].part_ns[DW_PART_COMMUNICATION] = 77;
		spans[i].between_ns = 5;
		rank.ns += spans[i].ns = spans[i].longest_ns = 1000 * (i + 1) + 77;
	}
	dw_summary_encode(&summary, &proto);
	dw_glance_take(&of_rank, &rank);
	CHECK(dw_glance_read(&scratch, proto.bytes, proto.used, glance_found, &of_file));
	for (uint64_t from = 4; from < 9; from++) {
		sum[0] = dw_glance_sum(&of_file, from, &newest[0], &of_newest[0]);
		sum[1] = dw_glance_sum(&of_rank, from, &newest[1], &of_newest[1]);
		CHECK(memcmp(&sum[0], &sum[1], sizeof *sum) == 0);
		CHECK(memcmp(&of_newest[0], &of_newest[1], sizeof *sum) == 0);
		CHECK_EQ(newest[0], 7);
		CHECK_EQ(of_newest[0].work_ns, 3005);
		CHECK_EQ(of_newest[0].ns, 3077);
	}
	sum[0] = dw_glance_sum(&of_file, 5, &newest[0], &of_newest[0]);
	CHECK_EQ(sum[0].work_ns, 5010);
	CHECK_EQ(sum[0].steps, 3);
	of_rank.made = NULL;
	CHECK(memcmp(&of_file, &of_rank, offsetof(struct dw_glance, spans)) == 0);
	CHECK_STR(of_file.where, "in all_reduce of group world, number 9");
	CHECK_EQ(of_file.group_count, 2);
	CHECK_EQ(of_file.pause, DW_PAUSE_EVALUATION);
	CHECK_EQ(of_file.cpu_ns, 300);
	CHECK_EQ(of_file.failed, 265);
	CHECK(of_file.followed);
	CHECK(of_file.spins);
	for (size_t length = 0; length < proto.used; length++)
		if (length != 24)
			CHECK(!dw_glance_read(&scratch, proto.bytes, length, glance_found, &of_file));
	dw_proto_reset(&proto);
}

CHECK_MAIN
