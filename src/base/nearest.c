/* "Did you mean ...?"; see nearest.h. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 128u

static unsigned nearest_least(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;

	return smaller < c ? smaller : c;
}

static bool nearest_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The Levenshtein distance without regard to case, computed row by row. Two letters in the wrong order are one edit. */
static unsigned nearest_distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *row = rows[0], *above = rows[1], *second = rows[2], *spare;
	unsigned length = (unsigned)strlen(b);

	if (length > LONGEST || strlen(a) > LONGEST)
		return LONGEST;
	for (unsigned j = 0; j <= length; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		spare = second;
		second = above;
		above = row;
		row = spare;
		row[0] = i;
		for (unsigned j = 1; j <= length; j++) {
			row[j] = nearest_least(above[j] + 1, row[j - 1] + 1, above[j - 1] + !nearest_same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && nearest_same(a[i - 1], b[j - 2]) && nearest_same(a[i - 2], b[j - 1]))
				row[j] = nearest_least(row[j], row[j], second[j - 2] + 1);
		}
	}
	return row[length];
}

void dw_nearest_init(struct dw_nearest *nearest, const char *wanted)
{
	nearest->wanted = wanted;
	nearest->best = NULL;
	nearest->distance = 0;
}

void dw_nearest_try(struct dw_nearest *nearest, const char *name)
{
	size_t wanted = strlen(nearest->wanted);
	unsigned edits = nearest_distance(nearest->wanted, name);

	/* A third of the letters may differ; the beginning of a name also counts as near. */
	if (edits > (wanted + 1) / 3 && (wanted < 3 || strncasecmp(name, nearest->wanted, wanted) != 0))
		return;
	if (!nearest->best || edits < nearest->distance) {
		nearest->best = name;
		nearest->distance = edits;
	}
}

struct dw_nearest_question dw_nearest_question(const struct dw_nearest *nearest)
{
	struct dw_nearest_question question = { "" };

	if (nearest->best)
		snprintf(question.at, sizeof question.at, "; did you mean '%.*s'?", (int)LONGEST, nearest->best);
	return question;
}
