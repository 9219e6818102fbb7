/*
 * How well the threads of a process share the work that the loop's thread waits for.
 *
 * While that thread waits, a number of others work at a time. If the team has more threads, and the machine CPUs for them, the
 * wait is as much shorter with equal work.
 */
#pragma once

#include "account/look.h"
#include "account/parts.h"
#include "base/map.h"

#define DW_TEAM_LEAST 0.1 /* of what the thread with most has, of work or of waits: one with less shares none of it */

/* The sampled CPU time of another thread in a part, without loops that wait for a thread. */
struct dw_team_work {
	uint32_t part, thread;
	double ns;
};

struct dw_team {
	struct dw_team_work *works;
	size_t count, capacity;
	/* The functions of the program that the loop's thread runs. It belongs to the team if the others run the same ones. */
	const struct dw_source_function **functions;
	size_t function_count, function_capacity;
	struct dw_map by_function;
	double shared_ns, all_ns; /* of the others' work: in these functions; all of it */
	bool failed; /* memory ran out */
};

void dw_team_reset(struct dw_team *team);
/* Adds what the loop's thread runs. */
void dw_team_add_own(struct dw_team *team, const struct dw_look *look);
/* Adds work of another thread. Behind all calls of dw_team_add_own(). */
void dw_team_add(struct dw_team *team, uint32_t part, uint32_t thread, const struct dw_look *look, double ns);
/* Sums up the works of each part and thread. */
void dw_team_merge(struct dw_team *team);
/* How much of a wait in a part goes with equal work. `of_sampled`: what a sampled ns of the others' CPU time is. `waits_ns`: for how
 * long the loop's thread waits there. `cpus`: that the program may use. */
double dw_team_uneven(const struct dw_team *team, const struct dw_account_parts *parts, uint32_t part, double of_sampled,
                      double waits_ns, long cpus);
