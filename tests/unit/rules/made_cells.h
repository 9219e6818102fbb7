/* Accounts made by hand: each cell is a part of the loop. What they leave is in forward, and no rule's. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"

#define MADE_MOST 12u

struct made_cell {
	enum dw_account_state state;
	enum dw_activity activity;
	double part;          /* of the loop */
	const char *range;    /* of the program, at "loop.c:17"; NULL: in none */
	const char *function; /* of the program, at "engine.c:41"; NULL: not known */
	enum dw_share share;  /* if it is in no range; 0: OTHER */
	enum dw_iteration_class class;
	uint32_t call; /* its number, of std::regex::regex() */
	bool root;     /* the function starts the program */
	uint32_t line; /* 0: 41 */
	bool between;  /* the steps */
};

/* CELL(WAITS, LOCK, 0.3, .range = "metrics") */
#define CELL(state_, activity_, ...) \
	{ \
		.state = DW_ACCOUNT_##state_, .activity = DW_ACTIVITY_##activity_, .part = __VA_ARGS__ \
	}
#define MADE_CELLS(...) \
	(const struct made_cell[]) \
	{ \
		__VA_ARGS__, \
		{ \
			.part = 0 \
		} \
	}

struct made_account {
	struct dw_account of;
	struct dw_account_cell cells[MADE_MOST + 1];
	struct dw_account_place places[MADE_MOST];
	struct dw_source_function functions[MADE_MOST];
	struct dw_symbol symbols[MADE_MOST];
	uint32_t symbol_count;
};

/* Whether a rule is about what the thread does, or waits for, outside of calls that have rules. */
static inline bool made_is_of_activities(const struct dw_rule *rule)
{
	return rule->cells && !rule->cells->explained && rule->cells->call == DW_ACCOUNT_NO_CALL;
}

/* The index of a range's symbol. */
static inline uint32_t made_symbol(struct made_account *account, const char *name)
{
	for (uint32_t i = 0; i < account->symbol_count; i++)
		if (strcmp(account->symbols[i].name, name) == 0)
			return i;
	if (account->symbol_count == MADE_MOST)
		abort();
	account->symbols[account->symbol_count] =
		(struct dw_symbol){ .name = name, .file = "/srv/loop.c", .line = 17, .category = DWELL_CATEGORY_ZONE };
	return account->symbol_count++;
}

static inline void made_add_cell(struct made_account *account, const struct made_cell *cell, double wall_ns)
{
	size_t number = account->of.count++;
	struct dw_account_cell *to = &account->cells[number];

	if (number > MADE_MOST)
		abort();
	*to = (struct dw_account_cell){ .class = cell->class,
		                            .where = cell->between ? DW_SAMPLE_BETWEEN : DW_SAMPLE_IN_STEP,
		                            .share = cell->range   ? DW_SHARE_NAMED
		                                     : cell->share ? cell->share
		                                                   : DW_SHARE_OTHER,
		                            .named = cell->range ? made_symbol(account, cell->range) : DW_NO_INDEX,
		                            .activity = cell->activity,
		                            .state = cell->state,
		                            .call = cell->call,
		                            .ns = cell->part * wall_ns,
		                            .basis = { 1000, 1000, 1000 } };
	account->of.state_ns[cell->state] += to->ns;
	if (!cell->function)
		return;
	account->functions[number] = (struct dw_source_function){ cell->function, "/srv/engine.c", 41 };
	account->places[number] = (struct dw_account_place){
		.function = &account->functions[number], .line = cell->line ? cell->line : 41, .root = cell->root, .ns = to->ns, .self_ns = to->ns
	};
	to->places = &account->places[number];
	to->place_count = 1;
}

/* To be called anew when cells have changed. */
static inline void made_slice(struct made_account *account)
{
	static struct dw_arena arena;

	if (!dw_account_slice_cells(&account->of, &arena))
		abort();
}

/* The account of a loop with these cells, which end with a part of 0. Many samples divide each state. */
static inline void made_account_of(struct made_account *account, struct dw_facts *facts, const struct made_cell *cells)
{
	double wall_ns = facts->at[DW_FACT_LOOP_WALL].value;
	struct made_cell rest = CELL(RUNS, DEVICE, 1, .share = DW_SHARE_FORWARD);

	account->of = (struct dw_account){
		.known = true, .waits_known = true, .wall_ns = wall_ns, .cells = account->cells, .symbols = account->symbols
	};
	for (; cells->part > 0; cells++) {
		made_add_cell(account, cells, wall_ns);
		rest.part -= cells->part;
	}
	if (rest.part > 1e-9)
		made_add_cell(account, &rest, wall_ns);
	/* Of 60 iterations one is the warm-up, and three are slow. */
	account->of.classes[DW_ITERATION_STEADY].count = 56;
	account->of.classes[DW_ITERATION_WARM_UP].count = 1;
	account->of.classes[DW_ITERATION_SLOW].count = 3;
	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		account->of.classes[class].bounded = true;
	for (size_t i = 0; i < account->of.count; i++)
		account->of.classes[account->cells[i].class].ns += account->cells[i].ns;
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		account->of.basis[state] = (struct dw_account_basis){ 100000, 100000, 100000 };
	account->of.own_ns = wall_ns - account->of.state_ns[DW_ACCOUNT_NO_CPU];
	made_slice(account);
	facts->account = &account->of;
}

/* Makes a range the largest that the program named, with this part of a step. */
static inline void made_largest_range(struct made_account *account, struct dw_facts *facts, const char *name,
                                      double part)
{
	facts->at[DW_FACT_STEP_NAMED_LARGEST] = (struct dw_fact){ .measured = true,
		                                                      .value = part,
		                                                      .low = part,
		                                                      .high = part,
		                                                      .samples = 60,
		                                                      .symbol = made_symbol(account, name),
		                                                      .name = name,
		                                                      .where = "loop.c:17" };
}
