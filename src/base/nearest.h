/*
 * "Did you mean ...?": the name nearest to what was typed.
 *
 *     dw_nearest_init(&nearest, "operatrs");
 *     for each name: dw_nearest_try(&nearest, name);
 *     nearest.best is the nearest one, or NULL if no name is near
 *     dw_nearest_question(&nearest).at is "; did you mean 'operators'?", or "" if no name is near
 */
#pragma once

struct dw_nearest {
	const char *wanted;
	const char *best;   /* one of the names that were tried; not copied */
	unsigned distance;  /* edits from wanted to best */
};

void dw_nearest_init(struct dw_nearest *nearest, const char *wanted);
void dw_nearest_try(struct dw_nearest *nearest, const char *name);

struct dw_nearest_question {
	char at[160];
};
struct dw_nearest_question dw_nearest_question(const struct dw_nearest *nearest);
