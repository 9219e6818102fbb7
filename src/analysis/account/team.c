/* How unequal the work of threads is; see team.h. */
#include "account/team.h"

#include <math.h>
#include <string.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"

#define OF_WORK DW_ACCOUNT_MOST /* of the others' work, in functions that the loop's thread runs, too: then it shares it */

DW_ORDER(team_compare_threads, struct dw_team_work, DW_UP(part) DW_UP(thread))
DW_ORDER(team_compare_works, struct dw_team_work, DW_UP(part) DW_DOWN(ns))

void dw_team_reset(struct dw_team *team)
{
	DW_FREE(team->works, team->functions);
	dw_map_reset(&team->by_function);
}

/* A function that starts a thread or the program is no work that is shared. */
static bool team_runs(const struct dw_team *team, const struct dw_look_function *at, uint32_t *hash)
{
	*hash = dw_map_hash_bytes(0, at->function->name, strlen(at->function->name));
	return !at->root && DW_MAP_FIND(&team->by_function, *hash, i,
	                                strcmp(team->functions[i]->name, at->function->name) == 0 &&
	                                    dw_text_same(team->functions[i]->file, at->function->file)) != DW_MAP_NONE;
}

void dw_team_add_own(struct dw_team *team, const struct dw_look *look)
{
	uint32_t hash;

	for (size_t f = 0; f < look->count; f++) {
		if (look->functions[f].root || team_runs(team, &look->functions[f], &hash))
			continue;
		team->failed |= !DW_APPEND(&team->functions, &team->function_capacity, &team->function_count,
		                           look->functions[f].function) ||
		                !dw_map_add(&team->by_function, hash, (uint32_t)team->function_count - 1);
	}
}

void dw_team_add(struct dw_team *team, uint32_t part, uint32_t thread, const struct dw_look *look, double ns)
{
	bool shared = false;
	uint32_t hash;

	for (size_t f = 0; f < look->count && !shared; f++)
		shared = team_runs(team, &look->functions[f], &hash);
	team->shared_ns += shared ? ns : 0;
	team->all_ns += ns;
	team->failed |= !DW_APPEND(&team->works, &team->capacity, &team->count, (struct dw_team_work){ part, thread, ns });
}

void dw_team_merge(struct dw_team *team)
{
	size_t count = 0;

	DW_SORT(team->works, team->count, team_compare_threads);
	for (size_t i = 0; i < team->count; i++) {
		if (count && team->works[count - 1].part == team->works[i].part && team->works[count - 1].thread == team->works[i].thread)
			team->works[count - 1].ns += team->works[i].ns;
		else
			team->works[count++] = team->works[i];
	}
	team->count = count;
	DW_SORT(team->works, team->count, team_compare_works);
}

/* The first work in a part. */
static size_t team_first(const struct dw_team *team, uint32_t part)
{
	return DW_FIRST(i, 0, team->count, team->works[i].part >= part);
}

double dw_team_uneven(const struct dw_team *team, const struct dw_account_parts *parts, uint32_t part, double of_sampled,
                      double waits_ns, long cpus)
{
	double at_a_time = 0, most_ns = 0, most;
	size_t threads = 0;

	for (size_t i = team_first(team, part); i < team->count && team->works[i].part == part; i++) {
		const struct dw_team_work *work = &team->works[i];

		most_ns = fmax(most_ns, work->ns); /* that of the first one */
		at_a_time += work->ns * of_sampled / fmax(1, parts->at[part].state_ns[DW_ACCOUNT_RUNS] + waits_ns);
		threads += work->ns >= DW_TEAM_LEAST * most_ns;
	}
	threads += team->shared_ns >= OF_WORK * team->all_ns;
	most = fmin((double)cpus, fmax(1, (double)threads));
	return fmax(0, 1 - fmax(1, at_a_time) / most);
}
