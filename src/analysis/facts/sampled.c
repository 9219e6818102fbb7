/* The program's functions of Python by samples of call stacks; see sampled.h. */
#include "facts/sampled.h"

#include <stdio.h>
#include <string.h>

#include "base/code/activity.h"
#include "base/code/demangle.h"
#include "base/text.h"

static struct dw_sampled_function *sampled_get(struct dw_sampled *to, const struct dw_source_function *function)
{
	size_t i = 0;

	while (i < to->count && !(strcmp(to->at[i].name, function->name) == 0 && dw_text_same(to->at[i].file, function->file)))
		i++;
	if (i == DW_SAMPLED_FUNCTIONS)
		return NULL;
	if (i == to->count)
		to->at[to->count++] = (struct dw_sampled_function){ .name = function->name, .file = function->file };
	return &to->at[i];
}

/* A vote for a line. At the end, `line` is the one that has more than half of the weight, if there is such a line. */
static void sampled_vote(struct dw_sampled_function *to, uint32_t line, uint64_t weight)
{
	if (to->line == line) {
		to->line_weight += weight;
	} else if (to->line_weight >= weight) {
		to->line_weight -= weight;
	} else {
		to->line = line;
		to->line_weight = weight - to->line_weight;
	}
}

static void sampled_add(const struct dw_facts_work *work, struct dw_sampled *to, const struct dw_sample_row *row)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(work->source, row);
	bool seen[DW_SAMPLED_FUNCTIONS] = { false };

	to->weight += row->weight;
	to->squares += row->squares;
	for (uint32_t i = 0; i < stack.count; i++) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);
		struct dw_sampled_function *function;

		if (!frame || frame->module || frame->role != DW_LIBRARY_OWN || !frame->count || !frame->functions->file)
			continue;
		function = sampled_get(to, frame->functions);
		if (!function || seen[function - to->at])
			continue;
		seen[function - to->at] = true;
		function->total += row->weight;
		sampled_vote(function, frame->functions->line, row->weight);
	}
}

void dw_sampled_find(const struct dw_facts_work *work, dw_sampled_wants wants, void *context, struct dw_sampled *to)
{
	const struct dw_samples *samples = dw_source_has_samples(work->source) ? dw_model_samples(work->model, NULL) : NULL;

	to->count = 0;
	to->weight = to->squares = 0;
	for (size_t i = 0; samples && i < samples->count; i++)
		if (wants(context, &samples->rows[i]))
			sampled_add(work, to, &samples->rows[i]);
}

static bool sampled_is_most(const struct dw_sampled *sampled, const struct dw_sampled_function *function)
{
	double share = (double)function->total / (double)sampled->weight, low, high;

	dw_samples_interval(share, sampled->weight, sampled->squares, &low, &high);
	return share >= DW_SAMPLED_MOST && low >= DW_SAMPLES_NAMED && function->line;
}

const struct dw_sampled_function *dw_sampled_caller(const struct dw_sampled *sampled)
{
	const struct dw_sampled_function *found = NULL;

	/* Stacks are read from the innermost function, so of equal ones the first is the innermost. */
	for (size_t i = 0; i < sampled->count; i++)
		if (sampled_is_most(sampled, &sampled->at[i]) && (!found || sampled->at[i].total < found->total))
			found = &sampled->at[i];
	return found;
}

const struct dw_sampled_function *dw_sampled_region(const struct dw_sampled *part, const struct dw_sampled *all)
{
	const struct dw_sampled_function *found = NULL;
	double best = 0;

	for (size_t i = 0; i < part->count; i++) {
		const struct dw_sampled_function *function = &part->at[i];
		uint64_t anywhere = function->total;
		double common;

		for (size_t k = 0; k < all->count; k++)
			if (strcmp(all->at[k].name, function->name) == 0 && dw_text_same(all->at[k].file, function->file))
				anywhere = all->at[k].total;
		common = (double)function->total / (double)(part->weight + anywhere - function->total);
		if (common > best && sampled_is_most(part, function)) {
			best = common;
			found = function;
		}
	}
	return found;
}

const char *dw_sampled_name(const char *function, char text[200])
{
	dw_name_short(text, 200, function ? function : "");
	if (*text == '<')
		text[0] = '\0';
	return text;
}

const char *dw_sampled_text(struct dw_facts_work *work, const struct dw_sampled_function *function)
{
	const char *slash = strrchr(function->file, '/'), *file = slash ? slash + 1 : function->file;
	char name[200], text[400];
	int length;

	if (*dw_sampled_name(function->name, name))
		length = snprintf(text, sizeof text, "%s (%.100s:%u)", name, file, function->line);
	else
		length = snprintf(text, sizeof text, "%.100s:%u", file, function->line);
	return dw_facts_text(work, text, (size_t)length);
}
