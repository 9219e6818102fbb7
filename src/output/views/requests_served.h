/* Of the view requests, what marked requests have; requests.c has the view. */
#pragma once

#include "model/serving/serving.h"
#include "views/requests_rows.h"

/* Requests of one name in one process. */
struct dw_requests_kind {
	const char *name;
	uint32_t process, symbol;
	uint64_t sum_ns;
};

static inline bool dw_requests_has(const struct dw_requests_kind *kind, const struct dw_served *request)
{
	return request->symbol == kind->symbol && request->process == kind->process && !request->open;
}

/* The rows of the kind's stages and tokens. */
void dw_requests_put_stages(struct dwell_table *table, const struct dw_serving *serving, const struct dw_requests_kind *of);

/* For the overview: how long the most frequent requests took. Without `all`, only if threads are not known to take turns for
 * them; of others the overview says more. */
void dw_view_head_requests(struct dwell_table *table, struct dw_model *model, bool all);

/* The tables below the one of latencies: tokens, the slowest requests, batches. `most`: rows; 0: as many as views usually have. NULL:
 * out of memory. */
struct dwell_table *dw_requests_tokens(const struct dw_serving *serving, const struct dw_requests_kind *kinds, size_t count);
struct dwell_table *dw_requests_slowest(struct dw_model *model, const struct dw_serving *serving, size_t most);
struct dwell_table *dw_requests_batches(const struct dw_serving *serving, size_t most);
extern const struct dw_column_list dw_requests_tokens_columns, dw_requests_slow_columns, dw_requests_batch_columns;
