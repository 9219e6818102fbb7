/*
 * What training scripts do (tests/data/steps), as the probe records it: the steps that its state machine finds, and the
 * iterations that the reader decides of the same events. Where it decides, they are as many as the script's author
 * counts.
 *
 * Only what the main thread does is recorded. Files in which the program says its steps or several threads take part
 * are left out.
 */
#include <dirent.h>

#include "learning_loop.h"
#include "probes/steps_script.h"

#include "model/steps/learned.h"

enum { MOST_LINES = 256, MOST_STEPS = 512, MOST_NESTED = 8 };

static char lines[MOST_LINES][128];
static int line_count, optimizer_count;
static uint32_t phases[16]; /* of optimizers */
static char letters[16];
static char loops[512]; /* in which the optimizers step, as the probe stores it */
static int nested[MOST_NESTED], nested_count;

static struct {
	struct steps_rules rules;
	struct steps_state state;
	uint64_t kept, noted, began;
	bool maybe; /* the open step may be withdrawn */
	int count;
	struct {
		uint64_t from, to;
		bool maybe;
	} steps[MOST_STEPS];
} probe;

/* ---- the probe's steps ------------------------------------------------------------------------------------ */

static void probe_end(uint64_t at)
{
	REQUIRE(probe.began && probe.count < MOST_STEPS);
	if (!probe.maybe || !probe.rules.withdrawn) {
		probe.steps[probe.count].maybe = probe.maybe;
		probe.steps[probe.count].from = probe.began;
		probe.steps[probe.count++].to = at;
	}
	probe.began = 0;
}

static void probe_act(enum steps_action action)
{
	switch (action) {
	case STEPS_DO_NOTHING:
		break;
	case STEPS_DO_KEEP:
		probe.kept = now_us;
		break;
	case STEPS_DO_FORGET:
		probe.kept = 0;
		break;
	case STEPS_DO_NOTE:
		probe.noted = now_us;
		break;
	case STEPS_DO_BEGIN:
	case STEPS_DO_TRY:
	case STEPS_DO_INFER:
		probe.began = probe.kept ? probe.kept : now_us;
		probe.kept = 0;
		probe.maybe = action != STEPS_DO_BEGIN;
		break;
	case STEPS_DO_END:
		probe_end(now_us);
		break;
	case STEPS_DO_END_NOTED:
		probe_end(probe.noted);
		break;
	case STEPS_DO_CANCEL:
		probe.began = 0;
		break;
	}
}

static void probe_report(struct steps_input input, enum steps_event event)
{
	struct steps_answer answer;
	int kept = 0;

	input.event = event;
	answer = dwp_steps_event(&probe.state, &input);
	for (int i = 0; i < probe.count && answer.withdrawal != STEPS_WITHDRAW_NONE; i++)
		if (!probe.steps[i].maybe)
			probe.steps[kept++] = probe.steps[i];
	if (answer.withdrawal != STEPS_WITHDRAW_NONE)
		probe.count = kept;
	for (unsigned i = 0; i < STEPS_ACTIONS; i++)
		probe_act(answer.actions[i]);
}

/* ---- what it records ------------------------------------------------------------------------------------- */

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
	phases[optimizer_count] = optimizer_count
	                              ? dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "optimizer", number, 0, NULL, 0)
	                              : optimizer;
	optimizer_count++;
}

/* In which `repeat` an optimizer steps. */
static void scripts_note_loops(char letter)
{
	char chain[64];
	int used = 0, number = 0;

	while (number < optimizer_count && letters[number] != letter)
		number++;
	for (int i = 0; i < nested_count; i++)
		used += snprintf(chain + used, sizeof chain - (size_t)used, "%c%d", i ? '/' : '=', nested[i]);
	if (!nested_count || number == optimizer_count)
		return;
	snprintf(chain + used, sizeof chain - (size_t)used, " ");
	used = (int)strlen(loops);
	REQUIRE(used + 80 < (int)sizeof loops);
	snprintf(loops + used, sizeof loops - (size_t)used, "%d%s", number + 1, chain);
	if (strstr(loops, loops + used) != loops + used)
		loops[used] = 0; /* it is there already */
}

/* Ranges by the words that begin or end one. */
static const struct {
	const char *word;
	const uint32_t *op;
	bool begins, ends;
} ranges[] = {
	{ "loader", &loader, true, true },
	{ "batch", &data, true, true },
	{ "zero_grad", &optimizer, true, true },
	{ "forward", &forward, true, true },
	{ "forward-begins", &forward, true, false },
	{ "forward-ends", &forward, false, true },
	{ "forward-fails", &forward, true, true },
	{ "backward", &backward, true, true },
	{ "backward-begins", &backward, true, false },
	{ "backward-ends", &backward, false, true },
	{ "grad", &backward, true, true },
	{ "step", &optimizer, true, true },
	{ "step-begins", &optimizer, true, false },
	{ "step-ends", &optimizer, false, true },
	{ "checkpoint", &save, true, true },
};

static uint32_t scripts_op(const char *line, const uint32_t *op)
{
	const char *letter = strchr(line, ' ');

	if (op == &forward && (strstr(line, "no_grad") || strstr(line, "eval")))
		return evaluation;
	return strncmp(line, "step", 4) == 0 && letter ? scripts_phase(letter[1]) : *op;
}

/* Records the range of a word between what the probe is told of its begin and of its end. */
static void scripts_record(const char *line, const char *word, const struct steps_input *input, size_t event)
{
	size_t i = 0;

	while (i < sizeof ranges / sizeof *ranges && strcmp(ranges[i].word, word) != 0)
		i++;
	if (i == sizeof ranges / sizeof *ranges || !ranges[i].ends || ranges[i].begins)
		probe_report(*input, script_words[event].event);
	if (i < sizeof ranges / sizeof *ranges && ranges[i].begins)
		begin(scripts_op(line, ranges[i].op));
	if (strcmp(word, "zero_grad") == 0)
		range(clear, 1);
	pass(10);
	if (i < sizeof ranges / sizeof *ranges && ranges[i].ends)
		end();
	if (i < sizeof ranges / sizeof *ranges && ranges[i].ends && !ranges[i].begins)
		probe_report(*input, script_words[event].event);
	if (script_words[event].ends != script_words[event].event)
		probe_report(*input, script_words[event].ends);
}

static void scripts_line(const char *line)
{
	char word[32];
	struct steps_input input = script_read(line, word);

	if (strcmp(word, "make") == 0)
		scripts_make(line[5]);
	if (strcmp(word, "step") == 0 || strcmp(word, "step-begins") == 0)
		scripts_note_loops(line[strlen(word) + 1]);
	if (strcmp(word, "gone") == 0)
		probe_report(input, STEPS_OPTIMIZER_GONE);
	for (size_t i = 0; i < sizeof script_words / sizeof *script_words; i++)
		if (strcmp(word, script_words[i].word) == 0)
			scripts_record(line, word, &input, i);
}

static int scripts_lines(int at)
{
	for (; at < line_count; at++) {
		int times, from = at + 1;

		if (strcmp(lines[at], "end") == 0)
			return at;
		if (sscanf(lines[at], "repeat %d", &times) != 1) {
			scripts_line(lines[at]);
			continue;
		}
		nested[nested_count++ % MOST_NESTED] = from;
		while (times-- > 0)
			at = scripts_lines(from);
		nested_count--;
	}
	return at;
}

/* ---- files ------------------------------------------------------------------------------------------------- */

/* Reads a file. Returns the steps that its author counts; -1: it is left out. */
static int scripts_read(const char *path)
{
	FILE *file = fopen(path, "r");
	bool other = false;
	char line[256];
	int steps = -1;

	line_count = optimizer_count = 0;
	loops[0] = 0;
	while (file && fgets(line, sizeof line, file)) {
		char *text = line + strspn(line, " \t");

		text[strcspn(text, "\n")] = 0;
		sscanf(text, "# steps: %d", &steps);
		other |= strncmp(text, "thread ", 7) == 0 || strstr(text, "program-") || strstr(text, "user-names");
		if (*text && *text != '#' && line_count < MOST_LINES)
			snprintf(lines[line_count++], sizeof *lines, "%s", text);
	}
	if (file)
		fclose(file);
	return other ? -1 : steps;
}

static void scripts_check(const char *name, size_t wanted, int *decided)
{
	const struct dw_learned *learned;

	begin_trace();
	memset(&probe, 0, sizeof probe);
	dwp_steps_init(&probe.state, &probe.rules);
	dw_encode_meta(&made.process, "torch.steps", "found", false);
	dw_encode_meta(&made.process, "torch.optimizers", "numbered", false);
	scripts_lines(0);
	if (*loops)
		dw_encode_meta(&made.process, "torch.optimizer_loops", loops, false);
	for (int i = 0; i < probe.count; i++)
		dw_encode_step(&made.process, made.thread, (uint64_t)i, probe.steps[i].from * 1000, probe.steps[i].to * 1000,
		               1000, DW_STEP_RECORDED);
	REQUIRE(made_open(&made, NULL) == 0);
	learned = dw_model_learned(made.model, &made.error);
	REQUIRE(learned);
	if (learned->count && learned->count != wanted)
		CHECK_FAIL("%s: %zu iterations, not %zu", name, learned->count, wanted);
	if (!learned->count && made.source->step_count != wanted)
		CHECK_FAIL("%s: %zu steps, not %zu, and nothing is decided: %s", name, made.source->step_count, wanted,
		           learned->loop_count ? dw_learned_why_text(learned->loops[0].why) : "no steps");
	*decided += learned->count > 0;
	made_close(&made);
}

TEST(scripts_have_the_iterations_that_their_authors_count)
{
	const char *at = getenv("DWELL_STEPS");
	DIR *folder = opendir(at ? at : "tests/data/steps");
	const struct dirent *entry;
	int files = 0, decided = 0;

	REQUIRE(folder);
	while ((entry = readdir(folder)) != NULL) {
		char path[4096];
		int steps;

		snprintf(path, sizeof path, "%s/%s", at ? at : "tests/data/steps", entry->d_name);
		steps = strstr(entry->d_name, ".txt") ? scripts_read(path) : -1;
		if (steps < 0)
			continue;
		scripts_check(entry->d_name, (size_t)steps, &decided);
		files++;
	}
	closedir(folder);
	CHECK_RANGE(files, 40, 1000);
	CHECK_RANGE(decided, 25, 1000);
}

CHECK_MAIN
