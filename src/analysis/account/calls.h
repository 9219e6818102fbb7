/*
 * Calls at one place of the program that take much more time than any one thing that is done in them: making a regular expression
 * allocates, copies and looks up. Only for this folder.
 */
#pragma once

#include "account/account.h"
#include "account/look.h"
#include "base/map.h"

/* A function of the program with what it calls. */
struct dw_called_entry {
	struct dw_account_call of;
	enum dw_activity called; /* what the callee does, by its name */
	double ns;
	double of_activity[DW_ACTIVITY_COUNT]; /* of `ns`, by what the stack says */
	double managing_ns;                    /* of `ns`: what its innermost function gets, clears or returns memory */
};

/* All zero, but for `faults`, is empty. */
struct dw_called {
	double faults; /* the part of what touches memory that are page faults */
	struct dw_called_entry *entries;
	size_t count, capacity;
	struct dw_map by_name;
	double all_ns; /* of all samples */
	bool failed;   /* memory ran out */
};

/* Adds a sample. */
void dw_called_add(struct dw_called *calls, const struct dw_look *look, double ns);
/* Sets the calls of the account. */
void dw_called_choose(struct dw_called *calls, struct dw_account *account);
void dw_called_reset(struct dw_called *calls);
/* Sets the call that a sample is in, and then what is done in it. */
void dw_called_take(const struct dw_account *account, struct dw_look *look);
