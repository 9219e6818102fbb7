/*
 * Ticks of several files on one time line.
 *
 * Called once by source.c with all files. Three questions, answered apart:
 *
 * How long is a tick? The head's estimate comes from about a millisecond and may
 * be off by some 10^-4, which is 9 s a day; CLOCK entries come with every window
 * of 4 MiB. The longest span between two pairings (the head's own is one) gives
 * the rate with an error of (error_first + error_last) / span: 10^-7 after some
 * seconds. It is taken when that is better than 10^-4 and not absurd; the
 * monotonic clock, not the wall clock, for that one may be stepped. A monotonic
 * trace has ticks of 1 ns by definition.
 *
 * Where does a file begin on the common line? Files of one boot of one machine
 * share the monotonic clock: its readings at the start place them to within the
 * reading's error. Files of other machines (or boots) are placed by the wall
 * clock. NTP keeps those within some ms of each other in a good network, which a
 * file cannot know; what it can know is added up in error_ns: the reading's error
 * and how far wall and monotonic clock ran apart from the first to the last
 * pairing, for a clock that is being pulled into step is not in step.
 *
 * Where is zero? At the earliest start of all files.
 */
#include <math.h>
#include <string.h>

#include "read/read.h"

#define GOOD_RATE_ERROR 1e-4

static struct dw_read_clock head_clock(const struct dw_head *head)
{
	return (struct dw_read_clock){ head->start_ticks, head->start_monotonic_ns,
		                           head->start_realtime_ns, 0 };
}

static void fit_rate(struct dw_read_file *file)
{
	const struct dw_head *head = file->head;
	struct dw_read_clock first = head_clock(head), last = file->last_clock;
	double ticks, span_ns, rate, estimate;

	estimate = head->ticks_per_second ? 1e9 / (double)head->ticks_per_second : 1.0;
	file->ns_per_tick = estimate;
	if (head->clock_kind == DW_CLOCK_MONOTONIC) {
		file->ns_per_tick = 1.0;
		return;
	}
	if (file->first_clock.ticks && file->first_clock.ticks < first.ticks)
		first = file->first_clock;
	if (last.ticks <= first.ticks || last.monotonic_ns <= first.monotonic_ns)
		return;
	ticks = (double)(last.ticks - first.ticks);
	span_ns = (double)(last.monotonic_ns - first.monotonic_ns);
	/* The head does not say its error; the entry's stands for both. */
	if (2.0 * (double)last.error_ns / span_ns > GOOD_RATE_ERROR || span_ns < 1e6)
		return;
	rate = span_ns / ticks;
	if (!head->ticks_per_second || (rate > estimate * 0.9 && rate < estimate * 1.1))
		file->ns_per_tick = rate;
}

static double drift_ns(const struct dw_read_file *file)
{
	const struct dw_head *head = file->head;
	const struct dw_read_clock *last = &file->last_clock;

	if (!last->ticks)
		return 0;
	return fabs(((double)last->realtime_ns - (double)head->start_realtime_ns) -
	            ((double)last->monotonic_ns - (double)head->start_monotonic_ns));
}

static bool same_boot(const struct dw_head *a, const struct dw_head *b)
{
	static const uint8_t unknown[16];

	return memcmp(a->boot_id, b->boot_id, 16) == 0 && memcmp(a->boot_id, unknown, 16) != 0;
}

static double difference(uint64_t a, uint64_t b)
{
	return a >= b ? (double)(a - b) : -(double)(b - a);
}

uint64_t dw_read_clocks(struct dw_read_file *files, size_t count)
{
	const struct dw_head *main = files[0].head;
	double earliest = 0;

	for (size_t i = 0; i < count; i++) {
		struct dw_read_file *file = &files[i];
		double error = 0;

		fit_rate(file);
		file->start_ns = 0;
		if (i > 0 && same_boot(main, file->head)) {
			file->start_ns = difference(file->head->start_monotonic_ns, main->start_monotonic_ns);
			error = (double)file->last_clock.error_ns + (double)files[0].last_clock.error_ns;
		} else if (i > 0) {
			file->start_ns = difference(file->head->start_realtime_ns, main->start_realtime_ns);
			error = (double)file->last_clock.error_ns + (double)files[0].last_clock.error_ns +
			        drift_ns(file) + drift_ns(&files[0]);
		}
		file->error_ns = error < 9e18 ? (uint64_t)error : UINT64_MAX / 2;
		if (file->start_ns < earliest)
			earliest = file->start_ns;
	}
	for (size_t i = 0; i < count; i++)
		files[i].start_ns -= earliest;
	return main->start_realtime_ns - (uint64_t)(-earliest < 9e18 ? -earliest : 0);
}
