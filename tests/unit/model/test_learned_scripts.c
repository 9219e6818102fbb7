/*
 * Iterations that the reader decides of what training scripts do (tests/data/steps), against the steps that their
 * authors count. The probe's machine is tested with the same files.
 *
 * Only what the main thread does is recorded, as the probe would: the trace has one step, from the first event to the
 * last, because the probe's steps do not matter here. Files in which the program says its steps, several threads take
 * part or no optimizer steps are left out.
 */
#include <dirent.h>

#include "learning_loop.h"

#include "model/steps/learned.h"

enum { MOST_LINES = 256 };

static char lines[MOST_LINES][128];
static int line_count, optimizer_count;
static uint32_t phases[16]; /* of optimizers */
static char letters[16];

/* Scripts whose authors count differently. */
static const struct { const char *name; size_t count; } known[] = {
	{ "gan_five_to_one.txt", 250 },          /* each step of the discriminator is an iteration */
	{ "scaler.txt", 3 },                     /* 2 of 5 updates are skipped: with the probe's steps this is not decided */
	{ "functional_then_optimizer.txt", 3 },  /* 30 steps before there is an optimizer: the same */
};

static uint32_t scripts_phase(char letter)
{
	for (int i = 0; i < optimizer_count; i++)
		if (letters[i] == letter)
			return phases[i];
	return optimizer;
}

static void scripts_make(char letter)
{
	char number[16];

	snprintf(number, sizeof number, "%d", optimizer_count + 1);
	REQUIRE(optimizer_count < 16);
	letters[optimizer_count] = letter;
	phases[optimizer_count] = optimizer_count ? dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "optimizer", number, 0, NULL, 0)
	                                          : optimizer;
	optimizer_count++;
}

/* Words of the files; what begins and ends there. */
static const struct { const char *word; const uint32_t *op; bool begins, ends; } words[] = {
	{ "loader", &loader, true, true },            { "batch", &data, true, true },
	{ "zero_grad", &optimizer, true, true },      { "forward", &forward, true, true },
	{ "forward-begins", &forward, true, false },  { "forward-ends", &forward, false, true },
	{ "forward-fails", &forward, true, true },    { "backward", &backward, true, true },
	{ "backward-begins", &backward, true, false }, { "backward-ends", &backward, false, true },
	{ "grad", &backward, true, true },            { "step", &optimizer, true, true },
	{ "step-begins", &optimizer, true, false },   { "step-ends", &optimizer, false, true },
	{ "checkpoint", &save, true, true },
};

static uint32_t scripts_op(const char *line, const uint32_t *op)
{
	const char *letter = strchr(line, ' ');

	if (op == &forward && (strstr(line, "no_grad") || strstr(line, "eval")))
		return evaluation;
	return strncmp(line, "step", 4) == 0 && letter ? scripts_phase(letter[1]) : *op;
}

static void scripts_line(const char *line)
{
	size_t length = strcspn(line, " ");

	if (strncmp(line, "make ", 5) == 0)
		scripts_make(line[5]);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strlen(words[i].word) != length || strncmp(line, words[i].word, length) != 0)
			continue;
		if (words[i].begins)
			begin(scripts_op(line, words[i].op));
		if (strcmp(words[i].word, "zero_grad") == 0)
			range(clear, 1);
		pass(10);
		if (words[i].ends)
			end();
	}
}

static int scripts_lines(int at)
{
	for (; at < line_count; at++) {
		int times, from = at + 1;

		if (strcmp(lines[at], "end") == 0)
			return at;
		if (sscanf(lines[at], "repeat %d", &times) == 1)
			while (times-- > 0)
				at = scripts_lines(from);
		else
			scripts_line(lines[at]);
	}
	return at;
}

/* Reads a file. Returns the steps that its author counts; -1: it is left out. */
static int scripts_read(const char *path)
{
	FILE *file = fopen(path, "r");
	bool updates = false, other = false;
	char line[256];
	int steps = -1;

	line_count = optimizer_count = 0;
	while (file && fgets(line, sizeof line, file)) {
		char *text = line + strspn(line, " \t");

		text[strcspn(text, "\n")] = 0;
		sscanf(text, "# steps: %d", &steps);
		other |= strncmp(text, "thread ", 7) == 0 || strstr(text, "program-") || strstr(text, "user-names");
		updates |= strncmp(text, "step", 4) == 0;
		if (*text && *text != '#' && line_count < MOST_LINES)
			snprintf(lines[line_count++], sizeof *lines, "%s", text);
	}
	if (file)
		fclose(file);
	return updates && !other ? steps : -1;
}

static void scripts_check(const char *name, size_t wanted)
{
	const struct dw_learned *learned;

	begin_trace();
	dw_encode_meta(&made.process, "torch.steps", "found", false);
	dw_encode_meta(&made.process, "torch.optimizers", "numbered", false);
	step_begins();
	pass(1);
	scripts_lines(0);
	step_ends();
	REQUIRE(made_open(&made, NULL) == 0);
	learned = dw_model_learned(made.model, &made.error);
	REQUIRE(learned && learned->loop_count == 1);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		wanted = strcmp(known[i].name, name) == 0 ? known[i].count : wanted;
	if (learned->count != wanted)
		CHECK_FAIL("%s: %zu iterations, not %zu (%d)", name, learned->count, wanted, (int)learned->loops[0].why);
	made_close(&made);
}

TEST(scripts_have_the_iterations_that_their_authors_count)
{
	const char *at = getenv("DWELL_STEPS");
	DIR *folder = opendir(at ? at : "tests/data/steps");
	const struct dirent *entry;
	int files = 0;

	REQUIRE(folder);
	while ((entry = readdir(folder)) != NULL) {
		char path[4096];
		int steps;

		snprintf(path, sizeof path, "%s/%s", at ? at : "tests/data/steps", entry->d_name);
		steps = strstr(entry->d_name, ".txt") ? scripts_read(path) : -1;
		if (steps < 0)
			continue;
		scripts_check(entry->d_name, (size_t)steps);
		files++;
	}
	closedir(folder);
	CHECK_RANGE(files, 20, 1000);
}

CHECK_MAIN
