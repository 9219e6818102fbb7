/*
 * Gaps: times in which the work of devices was not recorded.
 *
 * A probe that bounds its cost records in bursts, and stores the times between them. A trace that may not grow loses the
 * oldest chunks of devices: what came before the oldest event that is left is a gap, too.
 */
#include "base/grow.h"
#include "base/order.h"
#include "model/device/build.h"

bool dw_device_add_gap(struct dw_device_build *build, uint32_t process, uint64_t start_ns, uint64_t end_ns)
{
	return DW_APPEND(&build->work->gaps, &build->gap_capacity, &build->work->gap_count,
	                 (struct dw_device_gap){ start_ns, end_ns > start_ns ? end_ns : UINT64_MAX, process });
}

/* For each process whose first chunk of devices is lost. */
static bool gaps_add_lost(struct dw_device_build *build)
{
	const struct dw_source *source = build->model->source;
	struct dw_device_work *work = build->work;
	struct { uint64_t number, first_ns; } *processes = calloc(source->process_count + 1, sizeof *processes);
	bool good = processes != NULL;

	for (size_t i = 0; i < source->events_count && good; i++) {
		uint32_t process = source->events[i].process;

		if (!processes[process].number || source->events[i].chunk.number < processes[process].number)
			processes[process].number = source->events[i].chunk.number;
	}
	for (size_t i = 0; i < work->event_count && good; i++) {
		uint32_t process = source->devices[source->queues[work->events[i].queue].device].process;

		if (!processes[process].first_ns || work->events[i].start_ns < processes[process].first_ns)
			processes[process].first_ns = work->events[i].start_ns;
	}
	for (uint32_t p = 0; p < source->process_count && good; p++)
		if (processes[p].number > 1 && processes[p].first_ns)
			good = dw_device_add_gap(build, p, 0, processes[p].first_ns);
	free(processes);
	return good;
}

/* Of gaps with one start, the first is the one that ended: it replaces the others. */
DW_ORDER(gaps_compare, struct dw_device_gap, DW_UP(process) DW_UP(start_ns) DW_UP(end_ns))

/* Part of the time from the first event to the last one, or the end of the last gap, that is in no gap. */
static double gaps_recorded(const struct dw_device_work *work)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	double all_ns = 0, gaps_ns = 0;

	for (size_t i = 0; i < work->event_count; i++) {
		first_ns = work->events[i].start_ns < first_ns ? work->events[i].start_ns : first_ns;
		last_ns = work->events[i].end_ns > last_ns ? work->events[i].end_ns : last_ns;
	}
	for (size_t i = 0; i < work->gap_count; i++)
		if (work->gaps[i].end_ns != UINT64_MAX && work->gaps[i].end_ns > last_ns)
			last_ns = work->gaps[i].end_ns;
	for (size_t i = 0; i < work->gap_count; i++) {
		const struct dw_device_gap *gap = &work->gaps[i];

		if (!i || gap->process != gap[-1].process)
			all_ns += (double)(last_ns - first_ns);
		if (gap->start_ns < last_ns && gap->end_ns > first_ns)
			gaps_ns += (double)((gap->end_ns < last_ns ? gap->end_ns : last_ns) -
			                    (gap->start_ns > first_ns ? gap->start_ns : first_ns));
	}
	return all_ns > 0 ? 1 - gaps_ns / all_ns : 1;
}

bool dw_device_end_gaps(struct dw_device_build *build)
{
	struct dw_device_work *work = build->work;
	size_t kept = 0;

	if (!gaps_add_lost(build))
		return false;
	DW_SORT(work->gaps, work->gap_count, gaps_compare);
	for (size_t i = 0; i < work->gap_count; i++) {
		const struct dw_device_gap *gap = &work->gaps[i];
		struct dw_device_gap *before = kept ? &work->gaps[kept - 1] : NULL;

		if (!before || before->process != gap->process || gap->start_ns >= before->end_ns)
			work->gaps[kept++] = *gap;
		else if (gap->start_ns != before->start_ns && gap->end_ns > before->end_ns)
			before->end_ns = gap->end_ns;
	}
	work->gap_count = kept;
	work->recorded = gaps_recorded(work);
	return true;
}

const struct dw_device_gap *dw_device_gap_after(const struct dw_device_work *work, uint32_t process, uint64_t ns)
{
	size_t at = DW_FIRST(i, 0, work->gap_count, work->gaps[i].process > process ||
	                     (work->gaps[i].process == process && work->gaps[i].end_ns > ns));

	return at < work->gap_count && work->gaps[at].process == process ? &work->gaps[at] : NULL;
}
