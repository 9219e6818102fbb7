/*
 * The state machine of steps, driven by the events of training scripts.
 *
 * Each file of tests/data/steps is a script: the events of each thread, one per line, in the order
 * of the hooks. Its header contains the number of steps that the author of such a script would
 * count, and their places. tests/data/steps/README.md describes the notation.
 */
#include "check.h"

#include <dirent.h>

#include "steps_script.h"

#define MOST_LINES 400
#define MOST_THREADS 8
#define MOST_STEPS 512

struct thread {
	char name[32];
	struct steps_state state;
	int kept, noted; /* ticks; 0: none */
	int began;       /* of the open step; 0: no step is open */
	int steps;
	int from[MOST_STEPS], to[MOST_STEPS];
	bool tentative[MOST_STEPS], tentative_now;
};

struct replay {
	char *lines[MOST_LINES];
	int count;
	int tick;
	struct steps_rules rules;
	struct thread threads[MOST_THREADS];
	int thread_count;
	struct thread *thread;
	const char *file;
	enum steps_phase phases[4096];
	int phase_count;
};

static void replay_act(struct replay *replay, enum steps_action action)
{
	struct thread *thread = replay->thread;
	int at = replay->tick;

	switch (action) {
	case STEPS_DO_NOTHING:
		break;
	case STEPS_DO_KEEP:
		thread->kept = at;
		break;
	case STEPS_DO_FORGET:
		thread->kept = 0;
		break;
	case STEPS_DO_NOTE:
		thread->noted = at;
		break;
	case STEPS_DO_BEGIN:
	case STEPS_DO_TRY:
	case STEPS_DO_INFER:
		if (thread->began)
			CHECK_FAIL("%s: a step begins at %d while one is open", replay->file, at);
		thread->began = thread->kept ? thread->kept : at;
		thread->kept = 0;
		thread->tentative_now = action != STEPS_DO_BEGIN;
		break;
	case STEPS_DO_END:
	case STEPS_DO_END_NOTED:
		if (!thread->began || thread->steps == MOST_STEPS)
			CHECK_FAIL("%s: a step ends at %d and none is open", replay->file, at);
		thread->tentative[thread->steps] = thread->tentative_now && !replay->rules.withdrawn;
		if (thread->tentative_now && replay->rules.withdrawn) { /* was withdrawn while it was open */
			thread->began = 0;
			break;
		}
		thread->from[thread->steps] = thread->began;
		thread->to[thread->steps++] = action == STEPS_DO_END ? at : thread->noted;
		thread->began = 0;
		break;
	case STEPS_DO_CANCEL:
		if (!thread->began)
			CHECK_FAIL("%s: a step is cancelled at %d and none is open", replay->file, at);
		thread->began = 0;
		break;
	}
}

/* As the recorder does: tentative steps of all threads were none. */
static void replay_withdrawal(struct replay *replay, enum steps_withdrawal withdrawal)
{
	if (withdrawal == STEPS_WITHDRAW_NONE)
		return;
	for (int t = 0; t < replay->thread_count; t++) {
		struct thread *thread = &replay->threads[t];
		int kept = 0;

		for (int i = 0; i < thread->steps; i++) {
			if (thread->tentative[i])
				continue;
			thread->tentative[kept] = false;
			thread->from[kept] = thread->from[i];
			thread->to[kept++] = thread->to[i];
		}
		thread->steps = kept;
	}
	for (int i = 0; i < replay->phase_count; i++)
		if (replay->phases[i] == STEPS_PHASE_TENTATIVE)
			replay->phases[i] = withdrawal == STEPS_WITHDRAW_PHASES ? STEPS_PHASE_EVALUATION : STEPS_PHASE_FORWARD;
}

static void replay_event(struct replay *replay, struct steps_input input)
{
	struct steps_answer answer = dwp_steps_event(&replay->thread->state, &input);

	replay_withdrawal(replay, answer.withdrawal);

	for (unsigned i = 0; i < STEPS_ACTIONS; i++)
		replay_act(replay, answer.actions[i]);
	if (input.event == STEPS_FORWARD_BEGINS && replay->phase_count < 4096)
		replay->phases[replay->phase_count++] = answer.phase;
	if (dwp_steps_is_open(&replay->thread->state) != (replay->thread->began != 0))
		CHECK_FAIL("%s: at %d the state does not say whether a step is open", replay->file, replay->tick);
}

static void choose_thread(struct replay *replay, const char *name)
{
	for (int i = 0; i < replay->thread_count; i++) {
		replay->thread = &replay->threads[i];
		if (strcmp(replay->thread->name, name) == 0)
			return;
	}
	if (replay->thread_count == MOST_THREADS) {
		CHECK_FAIL("%s: more than %d threads", replay->file, MOST_THREADS);
		return;
	}
	replay->thread = &replay->threads[replay->thread_count++];
	snprintf(replay->thread->name, sizeof replay->thread->name, "%s", name);
	dwp_steps_init(&replay->thread->state, &replay->rules);
}

static void drop_optimizer(struct replay *replay, struct steps_input input)
{
	input.event = STEPS_OPTIMIZER_GONE;
	for (int i = 0; i < replay->thread_count; i++)
		dwp_steps_event(&replay->threads[i].state, &input);
}

/* One line: a word and its qualities; a letter is an optimizer. */
static void replay_line(struct replay *replay, const char *line)
{
	char word[32];
	struct steps_input input = script_read(line, word);

	if (strcmp(word, "thread") == 0) {
		choose_thread(replay, line + strlen("thread "));
		return;
	}
	replay->tick++;
	if (strcmp(word, "gone") == 0) {
		drop_optimizer(replay, input);
		return;
	}
	if (strcmp(word, "user-names") == 0) {
		replay->rules.named = true;
		return;
	}
	for (size_t i = 0; i < sizeof script_words / sizeof *script_words; i++) {
		if (strcmp(word, script_words[i].word) != 0)
			continue;
		input.event = script_words[i].event;
		replay_event(replay, input);
		input.event = script_words[i].ends;
		if (script_words[i].ends != script_words[i].event)
			replay_event(replay, input);
		return;
	}
	CHECK_FAIL("%s: \"%s\" is no word of these files", replay->file, word);
}

/* Lines from `at` to the `end` of a repeat, or all; where it stopped. */
static int replay_lines(struct replay *replay, int at)
{
	for (; at < replay->count; at++) {
		const char *line = replay->lines[at];
		int times, from = at + 1;

		if (strcmp(line, "end") == 0)
			return at;
		if (sscanf(line, "repeat %d", &times) == 1)
			while (times-- > 0)
				at = replay_lines(replay, from);
		else
			replay_line(replay, line);
	}
	return at;
}

/* "# steps: 3" is of the main thread, "# steps of b: 3" of thread b. */
static void check_head(struct replay *replay, const char *line)
{
	char name[32] = "main", spans[256] = "", *at = spans;
	int wanted;

	if (sscanf(line, "# steps: %d", &wanted) == 1 || sscanf(line, "# steps of %31[^:]: %d", name, &wanted) == 2) {
		choose_thread(replay, name);
		if (replay->thread->steps != wanted)
			CHECK_FAIL("%s: %d steps of %s, not %d", replay->file, replay->thread->steps, name, wanted);
	}
	if (sscanf(line, "# evaluation phases: %d", &wanted) == 1) {
		int found = 0;

		for (int i = 0; i < replay->phase_count; i++)
			found += replay->phases[i] == STEPS_PHASE_EVALUATION;
		if (found != wanted)
			CHECK_FAIL("%s: %d phases of evaluation, not %d", replay->file, found, wanted);
	}
	if (strncmp(line, "# spans:", 8) == 0) {
		choose_thread(replay, "main");
		for (int i = 0; i < replay->thread->steps && at < spans + 240; i++)
			at += snprintf(at, 16, " %d-%d", replay->thread->from[i], replay->thread->to[i]);
		CHECK_STR(spans, line + 8);
	}
}

static void replay_file(const char *folder, const char *name)
{
	static struct replay replay;
	char path[4096], line[256], heads[16][256];
	int head_count = 0;
	FILE *file;

	memset(&replay, 0, sizeof replay);
	replay.file = name;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "r");
	REQUIRE(file);
	while (fgets(line, sizeof line, file)) {
		char *text = line + strspn(line, " \t");

		text[strcspn(text, "\n")] = 0;
		if (*text == '#' && head_count < 16)
			snprintf(heads[head_count++], sizeof *heads, "%s", text);
		else if (*text && *text != '#' && replay.count < MOST_LINES)
			replay.lines[replay.count++] = strdup(text);
	}
	fclose(file);
	choose_thread(&replay, "main");
	replay_lines(&replay, 0);
	for (int i = 0; i < head_count; i++)
		check_head(&replay, heads[i]);
	for (int i = 0; i < replay.thread_count; i++)
		if (replay.threads[i].began)
			CHECK_FAIL("%s: a step of %s is open at the end", name, replay.threads[i].name);
	for (int i = 0; i < replay.count; i++)
		free(replay.lines[i]);
}

TEST(scripts_have_the_steps_that_their_authors_count)
{
	const char *path = getenv("DWELL_STEPS");
	DIR *folder = opendir(path ? path : "tests/data/steps");
	const struct dirent *entry;
	int files = 0;

	REQUIRE(folder);
	while ((entry = readdir(folder)) != NULL) {
		size_t length = strlen(entry->d_name);

		if (length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0) {
			replay_file(path ? path : "tests/data/steps", entry->d_name);
			files++;
		}
	}
	closedir(folder);
	CHECK_RANGE(files, 20, 1000);
}

/* Whatever comes in whatever order: no begin without an end, and depths that fit. */
TEST(any_order_of_events_keeps_begins_and_ends_in_pairs)
{
	static const char optimizers[3];
	uint64_t random = 88172645463325252u;

	for (int run = 0; run < 2000; run++) {
		static struct replay replay;
		uint32_t open[STEPS_EVENTS] = { 0 };

		memset(&replay, 0, sizeof replay);
		replay.file = "random";
		choose_thread(&replay, "main");
		replay.rules.named = run % 5 == 0;
		for (int i = 0; i < 200; i++) {
			struct steps_input input;
			enum steps_event event;

			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			event = (enum steps_event)(random % (STEPS_EVENTS - 2));
			if (run % 3 && event >= STEPS_PROGRAM_BEGINS && event <= STEPS_PROGRAM_LEAVES)
				continue;
			input = (struct steps_input){ .event = event,
				                          .optimizer = &optimizers[random >> 20 & 1],
				                          .named = run % 10 == 0 && random >> 21 & 1,
				                          .grad = random >> 22 & 1,
				                          .training = random >> 23 & 1,
				                          .has_parameters = random >> 24 & 3,
				                          .accumulates = random >> 26 & 1,
				                          .loop = random >> 27 & 1,
				                          .transformed = random >> 28 & 1,
				                          .provisional = random >> 29 & 1 };
			switch (event) { /* what ends must have begun */
			case STEPS_FORWARD_ENDS:
			case STEPS_FORWARD_FAILS:
				if (!open[STEPS_FORWARD_BEGINS])
					continue;
				open[STEPS_FORWARD_BEGINS]--;
				break;
			case STEPS_BACKWARD_ENDS:
			case STEPS_FUNCTION_ENDS:
			case STEPS_OPTIMIZER_ENDS:
				if (!open[event - 1])
					continue;
				open[event - 1]--;
				break;
			case STEPS_OPTIMIZER_FAILS:
				if (!open[STEPS_OPTIMIZER_BEGINS])
					continue;
				open[STEPS_OPTIMIZER_BEGINS]--;
				break;
			default:
				open[event]++;
			}
			replay.tick++;
			replay_event(&replay, input);
		}
		replay_event(&replay, (struct steps_input){ .event = run % 2 ? STEPS_EXIT : STEPS_THREAD_ENDS });
		CHECK_EQ(replay.threads[0].began, 0);
	}
}

CHECK_MAIN
