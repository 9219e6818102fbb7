/*
 * Samples of call stacks: what the threads did while they used the CPU.
 *
 * A sample is a look at a thread after it has used the CPU for some periods (its weight). The rows
 * are sums of the samples that have everything in common that the product distinguishes. CPU time
 * is weight times period, so rows of one process add up to the CPU time that was sampled.
 */
#pragma once

#include "model/samples/sample.h"
#include "model/time/profiles.h"

struct dw_samples {
	struct dw_sample_row *rows; /* by weight, descending */
	size_t count;
	uint64_t samples, weight, cpu_ns; /* sums of the rows */
	uint64_t unread;                  /* samples whose stack could not be read */
	bool has_periods;                 /* of all processes that have samples */
};

/* NULL with `error`: out of memory. Without samples there are no rows. */
const struct dw_samples *dw_model_samples(struct dw_model *model, struct dwell_error *error);
/* The same of threads without steps, by what the thread with the steps of their process did meanwhile: `where`,
 * `share`, `range` and `named` are those of that thread. Forks without steps are as threads of their parent. Without threads that
 * have many records of their own. */
const struct dw_samples *dw_model_team_samples(struct dw_model *model, struct dwell_error *error);
/* The same for waits in functions of libc, by their time off the CPU: `cpu_ns` is the time of waiting. */
const struct dw_samples *dw_model_wait_samples(struct dw_model *model, struct dwell_error *error);
/* The waits of threads without steps, as the samples of a team. */
const struct dw_samples *dw_model_team_waits(struct dw_model *model, struct dwell_error *error);
/* Whether a process was sampled, without a walk. */
bool dw_source_has_samples(const struct dw_source *source);
/* The period of the process or, if it says none, of those that it was forked from, in nanoseconds. 0: not known. */
double dw_samples_period(const struct dw_source *source, uint32_t process);

/* The id of an EXT record that is a sample, or a wait. */
#define DW_IS_SAMPLE ((uint32_t)DW_EXT_SAMPLE << DW_EXT_TYPE_SHIFT | DW_SAMPLE_WORDS)
#define DW_IS_WAIT ((uint32_t)DW_EXT_WAIT << DW_EXT_TYPE_SHIFT | DW_WAIT_WORDS)

/* A sample with its time. `frame` and `stack` are as in struct dw_sample_row. */
struct dw_sample_time {
	uint64_t ns;
	uint32_t thread, frame, stack, weight;
};
/* All samples of the scope, or all waits, by thread and time. The caller frees *samples. Errors: DWELL_E_NOMEM. */
int dw_model_samples_in_order(struct dw_model *model, bool waits, struct dw_sample_time **samples, size_t *count,
                              struct dwell_error *error);

/* All frames of a sample, innermost first. */
struct dw_sample_stack {
	const struct dw_source_file *file;
	const uint32_t *callers;
	uint32_t frame, first, count; /* `first`: `frame` is known */
};
struct dw_sample_stack dw_sample_stack_of(const struct dw_source *source, const struct dw_sample_row *row);
/* The id of the i-th frame. */
static inline uint32_t dw_sample_stack_id(const struct dw_sample_stack *stack, uint32_t i)
{
	return i < stack->first ? stack->frame : __atomic_load_n(&stack->callers[i - stack->first], __ATOMIC_RELAXED);
}
/* The i-th frame; NULL: the stack has fewer, or was not read, or the file lacks the frame. */
static inline const struct dw_source_frame *dw_sample_stack_at(const struct dw_sample_stack *stack, uint32_t i)
{
	uint32_t id = i < stack->count ? dw_sample_stack_id(stack, i) : UINT32_MAX;

	return id < stack->file->symbol_count ? stack->file->frames[id] : NULL;
}

/* Whether a function of a frame is the program's own: of no library of the system, also not by its headers. */
static inline bool dw_sample_is_own(const struct dw_source_frame *frame, const struct dw_source_function *function)
{
	return dw_code_is_own(frame->role, function->name, function->file);
}

/* What a wait with this stack is for, by its innermost function and the caller of that. */
enum dw_activity dw_sample_wait_activity(const struct dw_sample_stack *stack);
/* The role of the library of the i-th frame. */
static inline enum dw_library_role dw_sample_role(const struct dw_sample_stack *stack, uint32_t i)
{
	const struct dw_source_frame *frame = dw_sample_stack_at(stack, i);

	return frame ? frame->role : DW_LIBRARY_OWN;
}
/* The innermost one behind `skipped` frames: 1 of waits, whose first frame is a function of libc. NULL: there is none.
 */
const struct dw_source_function *dw_sample_own_function(const struct dw_source *source, const struct dw_sample_row *row,
                                                        uint32_t skipped);
/* Whether the thread uses the CPU to wait for another thread: in OpenMP's runtime, until the others of its team are
 * ready; or in a loop of the program that only another thread can end. *within: how many of its innermost frames are
 * the runtime's, the kernel's, or what these call in libc. */
enum dw_sample_spin { DW_SPIN_NONE, DW_SPIN_TEAM, DW_SPIN_OWN };
enum dw_sample_spin dw_sample_spins(const struct dw_source *source, const struct dw_sample_row *row, uint32_t *within);

/* The CPU time of each path of functions by thread, as pictures draw it. Its counts are samples. */
const struct dw_paths *dw_model_sample_paths(struct dw_model *model, struct dwell_error *error);
/* The same of waits. */
const struct dw_paths *dw_model_wait_paths(struct dw_model *model, struct dwell_error *error);

/* What "time" draws: the ranges, or if no range was recorded, the samples; or what one of
 * the metrics below draws. `metric` NULL means time. Errors: DWELL_E_NO_DATA, DWELL_E_NOMEM. */
#define DW_METRIC_SAMPLES "samples"
#define DW_METRIC_WAITS "waits" /* as samples, of time off the CPU */
const struct dw_paths *dw_model_drawn_paths(struct dw_model *model, const char *metric, struct dwell_error *error);
/* 0, or the error of a metric that does not exist, or needs samples that are not there. */
int dw_model_check_drawn(const struct dw_model *model, const char *metric, struct dwell_error *error);

#define DW_SAMPLES_NAMED 0.15 /* of a time: a function is named if it certainly has so much of it */

/* Half of the 95% interval of a share of all weight, if each of the samples is independent. */
double dw_samples_error(double share, uint64_t weight, uint64_t squares);
/* The ends of that interval, by Wilson's formula, which is not symmetric: one sample of few shows little. */
void dw_samples_interval(double share, uint64_t weight, uint64_t squares, double *low, double *high);
/* The same for a number of independent samples. */
void dw_samples_wilson(double share, double samples, double *low, double *high);
