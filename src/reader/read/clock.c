/*
 * Converts the ticks of several files to one time line.
 *
 * Called once by source_open.c with all files. It answers four questions:
 *
 * How long is a tick? The estimate in the head comes from about a millisecond and may be wrong by
 * some 10^-4, which is 9 s a day. CLOCK entries pair the clocks, with every window of 4 MiB and
 * about once a minute. The longest span between two pairings (the head is one) gives the rate with
 * an error of twice a pairing's error / span: 10^-7 after some seconds. This rate is used if its
 * error is below 10^-4. The monotonic clock is used and not the wall clock, because the wall clock
 * may be set. In a trace with the monotonic clock a tick is 1 ns by definition.
 *
 * Did the clock jump? While a machine sleeps or a virtual machine is paused, the processor's
 * counter continues and the monotonic clock stops. Between two such pairings the rate differs from
 * the estimate by more than 10^-3, or by more than the pairings are exact. Then each part between
 * jumps has its own line through its pairings. The ticks of a jump are spread between the two
 * pairings around it, because nothing shows when it happened. The rate comes from the other parts.
 *
 * Where does a file begin on the common time line? Files of one boot of one machine share the
 * monotonic clock. Its values at their starts place the files exactly, except for the reading's
 * error. Files of other machines (or boots, or time namespaces) are placed by the wall clock. In a
 * good network NTP keeps wall clocks within some ms of each other; a file cannot know by how much.
 * What it can know is added up in error_ns: the reading's error, and how far wall clock and monotonic clock
 * drifted apart from the first to the last pairing, because a clock that NTP corrects was wrong.
 *
 * Where is zero? At the earliest start of all files.
 */
#include <math.h>

#include "base/order.h"
#include "read/read.h"

#define GOOD_RATE_ERROR 1e-4   /* the largest error of a rate that pairings give */
#define GOOD_RATE 1e-3         /* how far that rate may be from the estimate in the head */
#define ESTIMATE_SPAN_NS 1e6   /* the span from which the estimate was computed */
#define LEAST_JUMP_NS 1e5
#define NEAR_NS 100000u        /* pairings this close together do not show the rate */

static double clock_difference(uint64_t a, uint64_t b)
{
	return a >= b ? (double)(a - b) : -(double)(b - a);
}

/* ---- ticks and ns of one file ------------------------------------------------------ */

/* The last piece that begins at or before `ticks` or `ns`. The first piece also covers earlier
 * times. */
static const struct dw_source_clock_piece *clock_find_piece(const struct dw_source_clock *clock,
                                                             uint64_t ticks, double ns, bool by_ns)
{
	const struct dw_source_clock_piece *pieces = clock->pieces;

	return &pieces[DW_FIRST(i, 1, clock->piece_count, by_ns ? pieces[i].ns > ns : pieces[i].ticks > ticks) - 1];
}

uint64_t dw_source_ns(const struct dw_source_clock *clock, uint64_t ticks)
{
	const struct dw_source_clock_piece *piece;

	if (!clock->piece_count)
		return dw_read_u64((double)clock->start_ns + clock_difference(ticks, clock->start_ticks) * clock->ns_per_tick);
	piece = clock_find_piece(clock, ticks, 0, false);
	return dw_read_u64(piece->ns + clock_difference(ticks, piece->ticks) * piece->ns_per_tick);
}

uint64_t dw_source_span_ns(const struct dw_source_clock *clock, uint64_t ticks)
{
	return dw_read_u64((double)ticks * clock->ns_per_tick);
}

uint64_t dw_source_ticks(const struct dw_source_clock *clock, uint64_t ns)
{
	uint64_t start = clock->start_ticks;
	double since;

	if (clock->piece_count) {
		const struct dw_source_clock_piece *piece = clock_find_piece(clock, 0, (double)ns, true);

		start = piece->ticks;
		since = ((double)ns - piece->ns) / piece->ns_per_tick;
	} else {
		since = ((double)ns - (double)clock->start_ns) / clock->ns_per_tick;
	}
	if (since < 0)
		return dw_read_u64((double)start + since);
	return start + dw_read_u64(since);
}

/* ---- the clocks of all files ------------------------------------------------------- */

static struct dw_read_clock head_clock(const struct dw_head *head)
{
	return (struct dw_read_clock){ head->start_ticks, head->start_monotonic_ns, head->start_realtime_ns, 0 };
}

/* How far the rate between good pairings may be from the head's estimate. The estimate comes from a
 * span of 1 ms, whose ends are not more exact than other pairings of this machine. */
static double clock_rate_tolerance(const struct dw_read_file *file)
{
	uint64_t least_ns = UINT64_MAX;

	for (size_t i = 0; i < file->clock_count; i++)
		if (file->clocks[i].error_ns < least_ns)
			least_ns = file->clocks[i].error_ns;
	double tolerance = least_ns == UINT64_MAX ? 0 : 4.0 * (double)least_ns / ESTIMATE_SPAN_NS;
	return tolerance > GOOD_RATE ? tolerance : GOOD_RATE;
}

DW_ORDER(compare_clocks, struct dw_read_clock, DW_UP(ticks))

static void clock_count_jump(struct dw_read_file *file, double ns)
{
	uint64_t size = dw_read_u64(fabs(ns));

	file->clock_jumps++;
	if (size > file->clock_jump_ns)
		file->clock_jump_ns = size;
}

/* Sorts all pairings by ticks. Leaves out those whose clock did not advance or that are too close
 * to the one before. */
static size_t order_clocks(struct dw_read_file *file, struct dw_read_clock *ordered)
{
	size_t count = file->clock_count + 1, kept = 1;

	ordered[0] = head_clock(file->head);
	if (file->clock_count)
		memcpy(ordered + 1, file->clocks, file->clock_count * sizeof *ordered);
	qsort(ordered, count, sizeof *ordered, compare_clocks);
	for (size_t i = 1; i < count; i++) {
		const struct dw_read_clock *last = &ordered[kept - 1];

		if (ordered[i].monotonic_ns < last->monotonic_ns + NEAR_NS || ordered[i].ticks == last->ticks) {
			if (last->monotonic_ns > ordered[i].monotonic_ns + NEAR_NS)
				clock_count_jump(file, clock_difference(last->monotonic_ns, ordered[i].monotonic_ns));
			continue;
		}
		ordered[kept++] = ordered[i];
	}
	return kept;
}

/* How much longer the time was on the monotonic clock than in ticks at this rate; 0 means no jump. */
static double clock_jump_between(const struct dw_read_clock *a, const struct dw_read_clock *b,
                                 double ns_per_tick, double tolerance)
{
	double ticks_ns = clock_difference(b->ticks, a->ticks) * ns_per_tick;
	double jump = clock_difference(b->monotonic_ns, a->monotonic_ns) - ticks_ns;
	double least = tolerance * ticks_ns + (double)(a->error_ns + b->error_ns) + LEAST_JUMP_NS;

	return fabs(jump) > least ? jump : 0;
}

static void clock_add_piece(struct dw_read_file *file, const struct dw_read_clock *a, double ns_per_tick)
{
	file->pieces[file->piece_count++] = (struct dw_source_clock_piece){
		a->ticks, clock_difference(a->monotonic_ns, file->head->start_monotonic_ns), ns_per_tick };
}

/* Makes a line for each jump and one for each part between jumps. */
static void clock_make_pieces(struct dw_read_file *file, const struct dw_read_clock *clocks, size_t count,
                              double estimate, double tolerance)
{
	for (size_t from = 0, to; from + 1 < count; from = to) {
		bool jump = clock_jump_between(&clocks[from], &clocks[from + 1], estimate, tolerance) != 0;

		to = from + 1;
		while (!jump && to + 1 < count && clock_jump_between(&clocks[to], &clocks[to + 1], estimate, tolerance) == 0)
			to++;
		clock_add_piece(file, &clocks[from], clock_difference(clocks[to].monotonic_ns, clocks[from].monotonic_ns) /
		              clock_difference(clocks[to].ticks, clocks[from].ticks));
	}
	clock_add_piece(file, &clocks[count - 1], file->ns_per_tick);
}

static int clock_fit_rate(struct dw_read_file *file)
{
	const struct dw_head *head = file->head;
	double estimate = head->ticks_per_second ? 1e9 / (double)head->ticks_per_second : 1.0;
	double tolerance = clock_rate_tolerance(file), ticks = 0, span_ns = 0, error_ns = 0;
	struct dw_read_clock *clocks;
	uint32_t jumps = 0;
	size_t count;

	file->ns_per_tick = head->clock_kind == DW_CLOCK_MONOTONIC ? 1.0 : estimate;
	if (head->clock_kind == DW_CLOCK_MONOTONIC || !file->clock_count)
		return 0;
	clocks = calloc(file->clock_count + 1, sizeof *clocks);
	file->pieces = calloc(file->clock_count + 2, sizeof *file->pieces);
	if (!clocks || !file->pieces) {
		free(clocks);
		return -1;
	}
	count = order_clocks(file, clocks);
	for (size_t i = 1; i < count; i++) {
		double jump = head->ticks_per_second ? clock_jump_between(&clocks[i - 1], &clocks[i], estimate, tolerance) : 0;

		if (jump != 0) {
			clock_count_jump(file, jump);
			jumps++;
			continue;
		}
		ticks += clock_difference(clocks[i].ticks, clocks[i - 1].ticks);
		span_ns += clock_difference(clocks[i].monotonic_ns, clocks[i - 1].monotonic_ns);
		error_ns = (double)clocks[i].error_ns;
	}
	/* Each jump splits the span, and each part has the errors of its two ends. */
	error_ns *= 2.0 * (jumps + 1);
	if (span_ns >= 1e6 && error_ns / span_ns <= GOOD_RATE_ERROR)
		file->ns_per_tick = span_ns / ticks;
	if (jumps)
		clock_make_pieces(file, clocks, count, estimate, tolerance);
	free(clocks);
	return 0;
}

static double clock_drift_ns(const struct dw_read_file *file)
{
	const struct dw_head *head = file->head;
	const struct dw_read_clock *last = &file->last_clock;

	if (!last->ticks)
		return 0;
	return fabs(((double)last->realtime_ns - (double)head->start_realtime_ns) -
	            ((double)last->monotonic_ns - (double)head->start_monotonic_ns));
}

/* Whether two files have one monotonic clock. A time namespace has its own. */
static bool clock_is_shared(const struct dw_head *a, const struct dw_head *b)
{
	static const uint8_t unknown[16];

	return memcmp(a->boot_id, b->boot_id, 16) == 0 && memcmp(a->boot_id, unknown, 16) != 0 &&
	       (a->time_namespace == b->time_namespace || !a->time_namespace || !b->time_namespace);
}

int dw_read_clocks(struct dw_read_file *files, size_t count, uint64_t *realtime_ns)
{
	const struct dw_head *main = files[0].head;
	double earliest = 0;

	for (size_t i = 0; i < count; i++) {
		struct dw_read_file *file = &files[i];
		double error = 0;

		if (clock_fit_rate(file))
			return -1;
		file->start_ns = 0;
		if (i > 0 && clock_is_shared(main, file->head)) {
			file->start_ns = clock_difference(file->head->start_monotonic_ns, main->start_monotonic_ns);
			error = (double)file->last_clock.error_ns + (double)files[0].last_clock.error_ns;
		} else if (i > 0) {
			file->start_ns = clock_difference(file->head->start_realtime_ns, main->start_realtime_ns);
			error = (double)file->last_clock.error_ns + (double)files[0].last_clock.error_ns +
			        clock_drift_ns(file) + clock_drift_ns(&files[0]);
		}
		file->error_ns = error < 9e18 ? (uint64_t)error : UINT64_MAX / 2;
		if (file->start_ns < earliest)
			earliest = file->start_ns;
	}
	for (size_t i = 0; i < count; i++) {
		files[i].start_ns -= earliest;
		for (size_t k = 0; k < files[i].piece_count; k++)
			files[i].pieces[k].ns += files[i].start_ns;
	}
	*realtime_ns = main->start_realtime_ns - (uint64_t)(-earliest < 9e18 ? -earliest : 0);
	return 0;
}
