/*
 * Learns byte pairs for a tokenizer: a page of text at a time is normalised, its pairs are counted, and the most
 * frequent one becomes a piece.
 *
 * Planted: a shell and tr make the page's capitals small, anew for each page.
 * Truth: time of the subprocess, from writing its input to its end, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6, PAGE = 24000, PIECES = 2048, MERGES = 48 };

static char page[PAGE + 1], path[] = "/tmp/page-XXXXXX";
static unsigned short pieces[PAGE];
static unsigned counts[PIECES][PIECES];

static void write_page(unsigned number)
{
	static const char *const words[] = { "The ", "organ ", "OF ", "Haarlem ", "has ", "sixty ", "Stops ", "and ", "two ",
		"thousand ", "Pipes ", "which ", "NO ", "tuner ", "has ", "ever ", "heard ", "Together.\n" };
	size_t length = 0;

	while (length + 16 < PAGE) {
		const char *word;

		number = number * 1664525u + 1013904223u;
		word = words[(number >> 16) % (sizeof(words) / sizeof(words[0]))];
		memcpy(page + length, word, strlen(word) + 1);
		length += strlen(word);
	}
}

static size_t normalise(void)
{
	DWELL_ZONE("normalise");
	char command[128];
	FILE *file = fopen(path, "w");
	size_t length;

	if (!file || fputs(page, file) < 0 || fclose(file))
		exit(1);
	snprintf(command, sizeof(command), "tr '[:upper:]' '[:lower:]' < %s", path);
	file = popen(command, "r");
	if (!file)
		exit(1);
	length = fread(page, 1, PAGE, file);
	if (pclose(file))
		exit(1);
	page[length] = 0;
	return length;
}

/* One merge: the most frequent pair of neighbours becomes the piece `next`. Returns the new length. */
static size_t merge(size_t length, unsigned short next)
{
	unsigned best = 0, left = 0, right = 0;
	size_t to = 0;

	{
		DWELL_ZONE("count pairs");
		for (size_t at = 0; at + 1 < length; at++) {
			unsigned count = ++counts[pieces[at]][pieces[at + 1]];

			if (count > best) {
				best = count;
				left = pieces[at];
				right = pieces[at + 1];
			}
		}
		for (size_t at = 0; at + 1 < length; at++)
			counts[pieces[at]][pieces[at + 1]] = 0;
	}
	DWELL_ZONE("merge");
	for (size_t at = 0; at < length; at++, to++)
		if (at + 1 < length && pieces[at] == left && pieces[at + 1] == right) {
			pieces[to] = next;
			at++;
		} else {
			pieces[to] = pieces[at];
		}
	return to;
}

int main(void)
{
	struct watch watch;
	size_t kept = 0;

	if (mkstemp(path) < 0)
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		size_t length;

		write_page((unsigned)watch.steps);
		planted_begin(&watch);
		length = normalise();
		planted_end(&watch);
		for (size_t at = 0; at < length; at++)
			pieces[at] = (unsigned char)page[at];
		for (int turn = 0; turn < MERGES; turn++)
			length = merge(length, (unsigned short)(256 + turn));
		kept += length;
	}
	watch_tell(&watch);
	printf("%zu pieces a page\n", kept / (size_t)watch.steps);
	unlink(path);
	return 0;
}
