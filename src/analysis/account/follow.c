/*
 * What is behind a wait for other threads: those wait, too.
 *
 * main() joins two threads. One of them holds a lock while the other one waits for it, in turn. Without the lock both would run at
 * once, and main() would wait for half of the time: so half of its wait is a wait for that lock. In general it is the time for which
 * each of the threads waits for locks, by their mean. Locks in programs of Python are not followed: most are part of something
 * else, such as a queue.
 *
 * main() reads the answer of a thread that sent its begin and its end by two calls: TCP holds back the end, and that thread waits for
 * the next question meanwhile. So main() waits for TCP, and the place is where the end was sent. It does, too, if it joins such a thread.
 * If that thread also waits for sockets, the other side of its connection is delayed as well, and the join waits for both.
 */
#include "account/follow.h"

#include <math.h>
#include <stdlib.h>

#include "base/free.h"

/* Behind a join: locks, or delayed messages; behind a wait for a socket: delayed answers. */
enum follow_what { FOLLOW_LOCKS, FOLLOW_MESSAGES, FOLLOW_ANSWERS, FOLLOW_COUNT };

struct follow {
	struct dw_making *making;
	enum follow_what what;
	const struct dw_samples *waits; /* of the other threads */
	double *of_thread;              /* by thread: for how long it waits for that */
	double *of_part;                /* by part: the same of all threads */
	double *taken_ns;               /* by part: what of that is the loop's thread's wait */
	double waits_ns, sockets_ns;    /* of_part, in all; and for how long they wait for sockets */
};

/* Whether the loop's thread may wait there for a thread that waits. */
static bool follow_is_for(enum follow_what what, const struct dw_account_cell *cell)
{
	return what == FOLLOW_ANSWERS ? cell->state == DW_ACCOUNT_WAITS && cell->activity == DW_ACTIVITY_SOCKET
	                              : dw_making_joins(cell->state, cell->activity);
}

static bool follow_is_other(const struct dw_making *making, const struct dw_sample_row *row)
{
	const struct dw_source_thread *threads = making->source->threads;

	return row->thread != making->to->thread && threads[row->thread].process == threads[making->to->thread].process;
}

/* Whether a wait of another thread of the process may be behind it. */
static bool follow_wants(const struct dw_making *making, enum follow_what what, const struct dw_sample_row *row)
{
	return row->activity == (what == FOLLOW_LOCKS ? DW_ACTIVITY_LOCK : DW_ACTIVITY_DELAYED) && follow_is_other(making, row);
}

/* Whether the loop's thread waits for others that wait. Only then the trace is read for when they do. */
static bool follow_has_any(const struct dw_making *making, enum follow_what what)
{
	bool any = false, waits = false;

	for (size_t i = 0; i < making->to->count && !waits; i++)
		waits = follow_is_for(what, &making->to->cells[i]) && making->to->cells[i].ns > 0;
	for (size_t i = 0; i < making->waits->count && waits && !any; i++)
		any = follow_wants(making, what, &making->waits->rows[i]);
	return any && (what != FOLLOW_LOCKS || !dw_making_is_python(making));
}

/* Looks at the i-th wait. False: it is none of these in the time of the account. */
static bool follow_look(struct follow *follow, size_t i, struct dw_look *look)
{
	struct dw_making *making = follow->making;
	const struct dw_sample_row *row = &follow->waits->rows[i];

	if (!follow_wants(making, follow->what, row) || !(making->wheres >> row->where & 1))
		return false;
	making->failed |= !dw_look_at(look, making->source, row, true);
	return !making->failed && look->activity == row->activity;
}

static void follow_sum(struct follow *follow, struct dw_look *look)
{
	for (size_t i = 0; i < follow->waits->count; i++) {
		const struct dw_sample_row *row = &follow->waits->rows[i];

		if (follow_is_other(follow->making, row) && row->activity == DW_ACTIVITY_SOCKET)
			follow->sockets_ns += (double)row->cpu_ns;
		if (!follow_look(follow, i, look))
			continue;
		follow->waits_ns += (double)row->cpu_ns;
		follow->of_thread[row->thread] += (double)row->cpu_ns;
		follow->of_part[dw_account_part_of(&follow->making->parts, row) - follow->making->parts.at] += (double)row->cpu_ns;
	}
}

/* How many threads wait about as long. */
static double follow_threads(const struct follow *follow)
{
	double most_ns = 0, threads = 0;

	for (size_t i = 0; i < follow->making->source->thread_count; i++)
		most_ns = fmax(most_ns, follow->of_thread[i]);
	for (size_t i = 0; i < follow->making->source->thread_count; i++)
		threads += most_ns > 0 && follow->of_thread[i] >= DW_TEAM_LEAST * most_ns;
	return threads;
}

/* Shortens the waits for threads by the time that becomes waits for what those wait for. */
static void follow_take(struct follow *follow, double threads)
{
	struct dw_making *making = follow->making;
	struct dw_account *to = making->to;
	double sides = follow->what == FOLLOW_MESSAGES ? 1 + fmin(1, follow->sockets_ns / fmax(1, follow->waits_ns)) : 1;

	for (uint32_t part = 0; part < making->parts.count; part++) {
		double waits_ns = 0;

		for (uint32_t i = making->first[part]; i != DW_NO_INDEX; i = making->next[i])
			waits_ns += follow_is_for(follow->what, &to->cells[i]) ? to->cells[i].ns : 0;
		follow->taken_ns[part] = fmin(waits_ns, sides * follow->of_part[part] / fmax(1, threads));
		for (uint32_t i = making->first[part]; i != DW_NO_INDEX && follow->taken_ns[part] > 0; i = making->next[i])
			if (follow_is_for(follow->what, &to->cells[i]))
				dw_cells_scale(&making->cells, i, 1 - follow->taken_ns[part] / waits_ns);
	}
}

static void follow_waits(struct dw_making *making, enum follow_what what)
{
	struct follow follow = { .making = making, .what = what };
	struct dw_look look = { .native = making->native };

	if (making->failed || !follow_has_any(making, what))
		return;
	follow.waits = dw_model_team_waits(making->model, NULL);
	follow.of_thread = calloc(making->source->thread_count + 1, sizeof *follow.of_thread);
	follow.of_part = calloc(making->parts.count + 1, sizeof *follow.of_part);
	follow.taken_ns = calloc(making->parts.count + 1, sizeof *follow.taken_ns);
	making->failed |= !follow.waits || !follow.of_thread || !follow.of_part || !follow.taken_ns;
	if (!making->failed) {
		follow_sum(&follow, &look);
		follow_take(&follow, follow_threads(&follow));
	}
	for (size_t i = 0; !making->failed && i < follow.waits->count; i++) {
		const struct dw_sample_row *row = &follow.waits->rows[i];
		size_t part = (size_t)(dw_account_part_of(&making->parts, row) - making->parts.at);

		if (follow.taken_ns[part] > 0 && follow_look(&follow, i, &look))
			dw_cells_add_sample(&making->cells, &making->parts.at[part], &look, DW_ACCOUNT_WAITS, row,
			                    (double)row->cpu_ns * follow.taken_ns[part] / follow.of_part[part]);
	}
	dw_look_reset(&look);
	DW_FREE(follow.of_thread, follow.of_part, follow.taken_ns);
}

void dw_making_follow_waits(struct dw_making *making)
{
	for (unsigned what = 0; what < FOLLOW_COUNT; what++)
		follow_waits(making, (enum follow_what)what);
}
