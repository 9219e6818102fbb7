/* "Did you mean ...?"; see nearest.h. */
#include "base/nearest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define LONGEST 128u

static unsigned nearest_least(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;

	return smaller < c ? smaller : c;
}

/* The Levenshtein distance without regard to case, computed row by row. */
static unsigned nearest_distance(const char *a, const char *b)
{
	unsigned row[LONGEST + 1];
	size_t length = strlen(b);

	if (length > LONGEST || strlen(a) > LONGEST)
		return LONGEST;
	for (unsigned j = 0; j <= length; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= length; j++) {
			unsigned above = row[j];
			int differ = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);

			row[j] = nearest_least(above + 1, row[j - 1] + 1, diagonal + (unsigned)differ);
			diagonal = above;
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
	if (edits > wanted / 3 + 1 && (wanted < 3 || strncasecmp(name, nearest->wanted, wanted) != 0))
		return;
	if (!nearest->best || edits < nearest->distance) {
		nearest->best = name;
		nearest->distance = edits;
	}
}
