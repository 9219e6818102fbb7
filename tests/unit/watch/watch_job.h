/* A job whose summaries are made here, look by look. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "watch/watch.h"

enum { RANKS = 8 };

static const uint64_t second = 1000000000, start = UINT64_C(1800000000) * 1000000000;

struct job {
	struct dw_watch watch;
	struct dw_summary_rank ranks[RANKS];
	struct dw_summary_span spans[RANKS];
	struct dw_summary_bucket buckets[RANKS];
	uint64_t now;
	bool gone[RANKS], silent[RANKS];
	char said[2000]; /* "hang 2", "hang 2 over": of the last look */
	char text[400];  /* of the last event */
	unsigned events; /* of all looks */
};

/* Gives the watch the summary of a rank, as it was written at that time. */
static inline bool take(struct dw_watch *watch, const struct dw_summary_rank *rank, uint64_t written_ns, bool gone)
{
	struct dw_glance glance;

	dw_glance_take(&glance, rank);
	return dw_watch_take_glance(watch, &glance, written_ns, gone);
}

static inline void say(void *context, const struct dw_watch_event *event)
{
	struct job *job = context;
	size_t length = strlen(job->said);

	job->events++;
	snprintf(job->text, sizeof job->text, "%s", event->text);
	if (length < sizeof job->said - 64)
		snprintf(job->said + length, sizeof job->said - length, "%s%s %d%s", length ? ", " : "",
		         dw_watch_kind_name(event->kind), event->watched->pid ? event->watched->rank : -1, event->over ? " over" : "");
}

static inline void make(struct job *job)
{
	*job = (struct job){ .now = start };
	for (int i = 0; i < RANKS; i++) {
		job->buckets[i] = (struct dw_summary_bucket){ (uint32_t)(26.575 - 8) * 4, 1 }; /* 100 ms */
		job->ranks[i] = (struct dw_summary_rank){ .job = "", .host = "a", .command = "", .rank = i,
			.pid = 100 + (uint32_t)i, .durations = &job->buckets[i], .duration_count = 1, .spans = &job->spans[i],
			.span_count = 1 };
	}
}

/* The rank did so many steps of `ms`, of which `wait_ms` are communication. */
static inline void step(struct job *job, int i, uint64_t steps, double ms, double wait_ms)
{
	struct dw_summary_rank *rank = &job->ranks[i];

	rank->steps += steps;
	rank->last_step = rank->steps;
	rank->ns += (uint64_t)((double)steps * ms * 1e6);
	job->spans[i].steps = rank->steps;
	job->spans[i].ns = rank->ns;
	job->spans[i].part_ns[DW_PART_COMMUNICATION] += (uint64_t)((double)steps * wait_ms * 1e6);
}

/* A look ten seconds later. Returns what it reports. */
static inline const char *look(struct job *job)
{
	job->now += 10 * second;
	*job->said = '\0';
	dw_watch_begin_look(&job->watch, job->now);
	for (int i = 0; i < RANKS; i++)
		if (!job->silent[i])
			CHECK_EQ(take(&job->watch, &job->ranks[i], job->now, job->gone[i]), true);
	CHECK_EQ(dw_watch_end_look(&job->watch, say, job), true);
	return job->said;
}

static inline const char *usual_look(struct job *job)
{
	for (int i = 0; i < RANKS; i++)
		step(job, i, 100, 100, 20);
	return look(job);
}

static inline double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* Normal with mean 0 and deviation 1. */
static inline double normal(uint64_t *state)
{
	double sum = -6;

	for (int n = 0; n < 12; n++)
		sum += uniform(state);
	return sum;
}
