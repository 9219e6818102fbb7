/*
 * Steps, and memory over time, for the charts of the page; see report.h.
 *
 *   steps   {"of":N,"count":all,"p50_ns","lanes":["rank 0", ...],"parts":["data", ...],"why":[names],
 *            "steps":[lane,number,begin ns,length ns,state,why,extra ns, each part's ns, ...]}
 *   memory  [{"process","pid","device","peak_ns","peak_bytes","left_bytes","kinds":[...],"time_ns":[...],
 *             "bytes":[[of the first kind], ...],"owners":[[name,bytes], ...]}, ...]
 *
 * A step's parts sum to its length. Of each `of` neighbours only the longest step is written. State: 0
 * usual, 1 not recorded or not whole, 2 it did not end. `why` is an index, or -1.
 */

#include "model/memory/memory.h"
#include "page/report.h"
#include "views/common.h"

#define MOST_NAMED 8u
#define MOST_WHY 200u
#define MOST_POOLS 4u
#define MOST_POINTS 800u
#define MOST_OWNERS 12u
#define MOST_LANES 256u

struct series {
	struct dw_model *model;
	const struct dw_steps *steps;
	size_t of;
	uint32_t named_count;        /* of steps->parts, that have a part of their own */
	bool shares[DW_SHARE_COUNT]; /* those that occur */
	struct dw_view_slow slow;
	const char *why[MOST_WHY];   /* what slow steps took longer in */
	uint32_t why_count;
};

static void series_comma_u64(struct dw_writer_out *out, uint64_t value)
{
	DW_PAGE_PUT(out, ",#", value);
}

static void series_put_parts(struct dw_writer_out *out, struct series *series)
{
	const struct dw_symbol *symbols = dw_model_symbols(series->model, NULL);
	bool any = false;

	dw_out_text(out, ",\"parts\":[");
	for (unsigned i = 0; i < DW_SHARE_COUNT; i++) {
		series->shares[i] = false;
		for (size_t s = 0; s < series->steps->count && !series->shares[i]; s++)
			series->shares[i] = series->steps->steps[s].share_ns[i] > 0;
		if (!series->shares[i] || i == DW_SHARE_NAMED)
			continue;
		dw_out_text(out, any ? "," : "");
		dw_page_put_text(out, dw_share_label(i));
		any = true;
	}
	series->named_count = series->steps->part_count < MOST_NAMED ? (uint32_t)series->steps->part_count : MOST_NAMED;
	for (uint32_t i = 0; i < series->named_count; i++) {
		dw_out_text(out, any ? "," : "");
		dw_page_put_text(out, symbols[series->steps->parts[i].symbol].name);
		any = true;
	}
	if (series->shares[DW_SHARE_NAMED])
		dw_out_text(out, any ? ",\"other names\"" : "\"other names\"");
	dw_out_text(out, "]");
}

static int64_t series_why(struct series *series, const char *reason)
{
	if (!reason)
		return -1;
	for (uint32_t i = 0; i < series->why_count; i++)
		if (series->why[i] == reason)
			return i;
	if (series->why_count == MOST_WHY)
		return -1;
	series->why[series->why_count] = reason;
	return series->why_count++;
}

static uint64_t series_named_ns(const struct dw_step *step, uint32_t symbol)
{
	for (uint32_t i = 0; i < step->part_count; i++)
		if (step->parts[i].symbol == symbol)
			return step->parts[i].ns;
	return 0;
}

static void series_put_step(struct dw_writer_out *out, struct series *series, const struct dw_step *step, uint32_t lane)
{
	uint64_t rest_ns = step->share_ns[DW_SHARE_NAMED];
	double extra_ns;
	const char *reason = dw_view_slow_reason(&series->slow, step, &extra_ns);

	DW_PAGE_PUT(out, "#,#,#,#", lane, step->number, step->start_ns, step->end_ns - step->start_ns);
	dw_out_text(out, step->open ? ",2," : step->recorded && step->whole ? ",0," : ",1,");
	dw_out_i64(out, series_why(series, reason));
	series_comma_u64(out, (uint64_t)(extra_ns + 0.5));
	for (unsigned i = 0; i < DW_SHARE_COUNT; i++)
		if (series->shares[i] && i != DW_SHARE_NAMED)
			series_comma_u64(out, step->share_ns[i]);
	for (uint32_t i = 0; i < series->named_count; i++) {
		uint64_t ns = series_named_ns(step, series->steps->parts[i].symbol);

		series_comma_u64(out, ns);
		rest_ns -= ns < rest_ns ? ns : rest_ns;
	}
	if (series->shares[DW_SHARE_NAMED])
		series_comma_u64(out, rest_ns);
}

/* Writes the longest of each `of` steps of one thread. */
static void series_put_list(struct dw_writer_out *out, struct series *series)
{
	const struct dw_steps *steps = series->steps;
	bool any = false;
	uint32_t lane = 0;

	dw_out_text(out, ",\"steps\":[");
	for (size_t from = 0; from < steps->count;) {
		size_t longest = from, at = from;

		for (; at < steps->count && at < from + series->of &&
		       steps->steps[at].thread == steps->steps[from].thread; at++)
			if (steps->steps[at].end_ns - steps->steps[at].start_ns >
			    steps->steps[longest].end_ns - steps->steps[longest].start_ns)
				longest = at;
		while (lane + 1 < steps->thread_count && steps->threads[lane] != steps->steps[from].thread)
			lane++;
		if (steps->threads[lane] != steps->steps[from].thread)
			for (lane = 0; lane + 1 < steps->thread_count && steps->threads[lane] != steps->steps[from].thread;)
				lane++;
		if (lane < MOST_LANES) {
			dw_out_text(out, any ? ",\n" : "\n");
			series_put_step(out, series, &steps->steps[longest], lane);
			any = true;
		}
		from = at;
	}
	dw_out_text(out, "]");
}

int dw_page_put_steps(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error)
{
	struct series series = { .model = model };
	char name[256];

	if (dw_model_source(model)->step_count) {
		series.steps = dw_model_steps(model, error);
		if (!series.steps)
			return error->code;
	}
	if (!series.steps || !series.steps->count) {
		dw_out_text(out, "null");
		return 0;
	}
	dw_view_slow_begin(&series.slow, model, series.steps);
	series.of = (series.steps->count + DW_PAGE_MOST_STEPS - 1) / DW_PAGE_MOST_STEPS;
	DW_PAGE_PUT(out, "{'of':#,'count':#,'p50_ns':#,'lanes':[", series.of, series.steps->count, series.steps->p50_ns);
	for (size_t i = 0; i < series.steps->thread_count && i < MOST_LANES; i++) {
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, dw_view_thread_name(model, series.steps->threads[i], false, name));
	}
	dw_out_text(out, "]");
	series_put_parts(out, &series);
	series_put_list(out, &series);
	dw_out_text(out, ",\"why\":[");
	for (uint32_t i = 0; i < series.why_count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, series.why[i]);
	}
	dw_out_text(out, "]}");
	return 0;
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* The point with the most memory among those from `from`. */
static size_t series_highest(const struct dw_memory_pool *pool, size_t from, size_t end)
{
	uint64_t most = 0;
	size_t highest = from;

	for (size_t i = from; i < end && i < pool->point_count; i++) {
		uint64_t bytes = 0;

		for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++)
			bytes += pool->points[i].bytes[kind];
		if (bytes > most) {
			most = bytes;
			highest = i;
		}
	}
	return highest;
}

static void series_put_points(struct dw_writer_out *out, const struct dw_memory_pool *pool)
{
	size_t of = (pool->point_count + MOST_POINTS - 1) / MOST_POINTS;

	dw_out_text(out, ",\"time_ns\":[");
	for (size_t i = 0; i < pool->point_count; i += of) {
		dw_out_text(out, i ? "," : "");
		dw_out_u64(out, pool->points[series_highest(pool, i, i + of)].ns);
	}
	dw_out_text(out, "],\"bytes\":[");
	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++) {
		dw_out_text(out, kind ? ",\n[" : "\n[");
		for (size_t i = 0; i < pool->point_count; i += of) {
			dw_out_text(out, i ? "," : "");
			dw_out_u64(out, pool->points[series_highest(pool, i, i + of)].bytes[kind]);
		}
		dw_out_text(out, "]");
	}
	dw_out_text(out, "]");
}

static void series_put_pool(struct dw_writer_out *out, struct dw_model *model, const struct dw_memory_pool *pool)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);

	DW_PAGE_PUT(out, "{'process':#,'pid':#,'device':#,'peak_ns':#,'peak_bytes':#,'left_bytes':#,'kinds':[",
	            dw_model_source(model)->processes[pool->process].label,
	            dw_model_source(model)->processes[pool->process].pid, pool->device, pool->peak_ns,
	            pool->all.at_peak_bytes, pool->all.live_bytes);
	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++) {
		dw_out_text(out, kind ? "," : "");
		dw_page_put_text(out, dw_memory_kind_name(kind));
	}
	dw_out_text(out, "]");
	series_put_points(out, pool);
	dw_out_text(out, ",\"owners\":[");
	for (size_t i = 0; i < pool->owner_count && i < MOST_OWNERS; i++) {
		const struct dw_memory_owner *owner = &pool->owners[i];

		if (!owner->use.at_peak_bytes)
			break;
		dw_out_text(out, i ? ",[" : "[");
		dw_page_put_text(out, owner->symbol == DW_NO_INDEX ? "(no operator)" : symbols[owner->symbol].name);
		series_comma_u64(out, owner->use.at_peak_bytes);
		dw_out_text(out, "]");
	}
	dw_out_text(out, "]}");
}

int dw_page_put_memory(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_memory *memory = dw_model_memory(model, error);
	bool any = false;

	if (!memory)
		return error->code;
	dw_out_text(out, "[");
	for (size_t i = 0; i < memory->pool_count && i < MOST_POOLS; i++) {
		if (!memory->pools[i].point_count)
			continue;
		dw_out_text(out, any ? ",\n" : "");
		series_put_pool(out, model, &memory->pools[i]);
		any = true;
	}
	dw_out_text(out, "]");
	return 0;
}
