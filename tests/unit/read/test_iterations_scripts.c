/*
 * What training scripts do (tests/data/steps): the pieces that PyTorch's probe finds, written into a trace, and the
 * iterations that the reader decides of them.
 *
 * Each file is a script: the events of each thread, one per line, in the order of the hooks. Its header contains the
 * number of iterations that the author of such a script would count, and their places. tests/data/steps/README.md
 * describes the notation.
 */
#include "made.h"

#include <dirent.h>

#include "steps_script.h"

enum { MOST_LINES = 400, MOST_THREADS = 8, MOST_PHASES = 4096, MOST_NESTED = 8, MOST_OPTIMIZERS = 16 };

struct thread {
	char name[32];
	uint32_t id;
	struct steps_state state;
	uint64_t kept, noted, began; /* ticks; 0: none */
	uint32_t tentative;          /* of the open step: its flag */
	uint64_t loop_began;         /* where a loop began that is followed */
};

static struct replay {
	const char *file;
	char *lines[MOST_LINES];
	int count;
	uint64_t tick, number;
	struct steps_rules rules;
	struct thread threads[MOST_THREADS], *thread;
	int thread_count;
	bool trains, forward;
	int tentative, evaluations;
	uint64_t tried; /* tentative steps */
	const void *optimizers[MOST_OPTIMIZERS];
	uint32_t optimizer_count;
	int nested[MOST_NESTED], nested_count;
	char loops[512]; /* in which the optimizers step, as the probe stores it */
} replay;
static struct made made;

static void replay_act(enum steps_action action, uint32_t what)
{
	struct thread *thread = replay.thread;

	bool begins = action == STEPS_DO_BEGIN || action == STEPS_DO_TRY;

	if (begins == (thread->began != 0) && action >= STEPS_DO_BEGIN)
		CHECK_FAIL("%s: at %" PRIu64 " action %d, and a step began at %" PRIu64, replay.file, replay.tick, action,
		           thread->began);
	switch (action) {
	case STEPS_DO_KEEP:
		thread->kept = replay.tick;
		break;
	case STEPS_DO_FORGET:
		thread->kept = 0;
		break;
	case STEPS_DO_NOTE:
		thread->noted = replay.tick;
		break;
	case STEPS_DO_BEGIN:
	case STEPS_DO_TRY:
		thread->tentative = action == STEPS_DO_TRY ? DW_STEP_TENTATIVE : 0;
		replay.tried += action == STEPS_DO_TRY;
		thread->began = thread->kept ? thread->kept : replay.tick;
		thread->kept = 0;
		break;
	case STEPS_DO_END:
	case STEPS_DO_END_NOTED:
		dw_encode_step(&made.process, thread->id, replay.number++, thread->began,
		               action == STEPS_DO_END ? replay.tick : thread->noted, 1,
		               DW_STEP_RECORDED | thread->tentative | what);
		thread->began = 0;
		break;
	case STEPS_DO_CANCEL:
		thread->began = 0;
		break;
	}
}

static uint32_t replay_number(const struct steps_input *input)
{
	uint32_t i = 0;

	while (i < replay.optimizer_count && replay.optimizers[i] != input->optimizer)
		i++;
	if (input->event == STEPS_OPTIMIZER_MADE && i == replay.optimizer_count) {
		replay.optimizers[replay.optimizer_count++ % MOST_OPTIMIZERS] = input->optimizer;
	}
	return i < replay.optimizer_count ? i : 0;
}

/* As dwell_steps_withdraw() does. */
static void replay_train(bool forward)
{
	struct dw_entry_withdrawal *entry = dw_encode_entry(
		&made.process, DW_ENTRY_WITHDRAWAL, dw_encode_process_entry(&made.process)->entry.id, 0, sizeof *entry);

	if (replay.trains || !entry)
		CHECK_FAIL("%s: it trains twice", replay.file);
	entry->ticks = replay.tick;
	replay.number = replay.tried == replay.number ? 0 : replay.number;
	replay.trains = true;
	replay.forward = forward;
}

static void replay_event(struct steps_input input)
{
	struct steps_answer answer;

	input.number = input.optimizer ? replay_number(&input) : 0;
	answer = dwp_steps_event(&replay.thread->state, &input);
	if (answer.trains)
		replay_train(answer.forward);
	for (uint32_t i = 0; i < answer.count; i++)
		replay_act(answer.actions[i], answer.what);
	if (input.event == STEPS_LOOP_WIDENS) /* as probes/torch/loop.c does */
		replay.thread->kept = replay.thread->loop_began;
	if (replay.thread->state.looped && !replay.thread->loop_began)
		replay.thread->loop_began = replay.thread->kept;
	replay.tentative += answer.phase == STEPS_PHASE_TENTATIVE;
	replay.evaluations += answer.phase == STEPS_PHASE_EVALUATION;
	if ((replay.thread->state.open != STEPS_OPEN_NONE) != (replay.thread->began != 0))
		CHECK_FAIL("%s: at %" PRIu64 " the state does not say whether a step is open", replay.file, replay.tick);
}

static void replay_choose_thread(const char *name)
{
	struct thread *thread;

	for (int i = 0; i < replay.thread_count; i++) {
		replay.thread = &replay.threads[i];
		if (strcmp(replay.thread->name, name) == 0)
			return;
	}
	REQUIRE(replay.thread_count < MOST_THREADS);
	replay.thread = thread = &replay.threads[replay.thread_count++];
	snprintf(thread->name, sizeof thread->name, "%s", name);
	thread->id = replay.thread_count == 1 ? made.thread
	                                      : dw_encode_thread(&made.process, 100 + (uint32_t)replay.thread_count, 0,
	                                                         (uint64_t)replay.thread_count, name);
	dwp_steps_init(&thread->state, &replay.rules);
}

/* In which `repeat` an optimizer steps. */
static void replay_note_loops(const struct steps_input *input)
{
	char chain[64];
	int used = snprintf(chain, sizeof chain, "%u", replay_number(input) + 1);

	for (int i = 0; i < replay.nested_count; i++)
		used += snprintf(chain + used, sizeof chain - (size_t)used, "%c%d", i ? '/' : '=', replay.nested[i]);
	snprintf(chain + used, sizeof chain - (size_t)used, " ");
	used = (int)strlen(replay.loops);
	REQUIRE(used + 80 < (int)sizeof replay.loops);
	if (replay.nested_count && !strstr(replay.loops, chain))
		snprintf(replay.loops + used, sizeof replay.loops - (size_t)used, "%s", chain);
}

/* One line: a word and its qualities; a letter is an optimizer. */
static void replay_line(const char *line)
{
	char word[32];
	struct steps_input input = script_read(line, word);

	if (strcmp(word, "thread") == 0) {
		replay_choose_thread(line + strlen("thread "));
		return;
	}
	replay.tick++;
	if (strcmp(word, "user-names") == 0)
		replay.rules.named = true;
	if ((strcmp(word, "step") == 0 || strcmp(word, "step-begins") == 0) && replay.thread == replay.threads)
		replay_note_loops(&input);
	for (size_t i = 0; i < sizeof script_words / sizeof *script_words; i++) {
		if (strcmp(word, script_words[i].word) != 0)
			continue;
		input.event = script_words[i].event;
		replay_event(input);
		input.event = script_words[i].ends;
		if (script_words[i].ends != script_words[i].event)
			replay_event(input);
		return;
	}
	if (strcmp(word, "user-names") != 0 && strcmp(word, "gone") != 0)
		CHECK_FAIL("%s: \"%s\" is no word of these files", replay.file, word);
}

/* Lines from `at` to the `end` of a repeat, or all; where it stopped. */
static int replay_lines(int at)
{
	for (; at < replay.count; at++) {
		int times, from = at + 1;

		if (strcmp(replay.lines[at], "end") == 0)
			return at;
		if (sscanf(replay.lines[at], "repeat %d", &times) != 1) {
			replay_line(replay.lines[at]);
			continue;
		}
		replay.nested[replay.nested_count++ % MOST_NESTED] = from;
		while (times-- > 0)
			at = replay_lines(from);
		replay.nested_count--;
	}
	return at;
}

static int count_steps(const char *name)
{
	int found = 0;

	for (size_t i = 0; i < made.source->step_count; i++)
		found += strcmp(made.source->threads[made.source->steps[i].thread].name, name) == 0;
	return found;
}

/* "# steps: 3" is of the main thread, "# steps of b: 3" of thread b. */
static void check_head(const char *line)
{
	char name[32] = "main", spans[512] = "", *at = spans;
	int wanted;

	if ((sscanf(line, "# steps: %d", &wanted) == 1 || sscanf(line, "# steps of %31[^:]: %d", name, &wanted) == 2) &&
	    count_steps(name) != wanted)
		CHECK_FAIL("%s: %d iterations of %s, not %d", replay.file, count_steps(name), name, wanted);
	if (sscanf(line, "# evaluation phases: %d", &wanted) == 1) {
		int found = replay.evaluations + (replay.trains && !replay.forward ? replay.tentative : 0);

		if (found != wanted)
			CHECK_FAIL("%s: %d phases of evaluation, not %d", replay.file, found, wanted);
	}
	if (strncmp(line, "# spans:", 8) != 0)
		return;
	for (size_t i = 0; i < made.source->step_count && at < spans + 480; i++)
		if (strcmp(made.source->threads[made.source->steps[i].thread].name, "main") == 0)
			at += snprintf(at, 24, " %" PRIu64 "-%" PRIu64, made.source->steps[i].start_ticks,
			               made.source->steps[i].end_ticks);
	if (strcmp(spans, line + 8) != 0)
		CHECK_FAIL("%s: spans%s, not%s", replay.file, spans, line + 8);
}

static void replay_begin(const char *name)
{
	memset(&replay, 0, sizeof replay);
	replay.file = name;
	made_init(&made);
	replay_choose_thread("main");
}

/* Writes what the probe does, and opens the trace. */
static void replay_open(void)
{
	if (*replay.loops)
		dw_encode_meta(&made.process, "torch.optimizer_loops", replay.loops, false);
	dw_encode_record(&made.stream, replay.tick + 1, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"), NULL, 0);
	if (made_open(&made, NULL))
		CHECK_FAIL("%s: %s", replay.file, made.error.message);
}

static void replay_file(const char *folder, const char *name)
{
	char path[4096], line[256], heads[16][256];
	int head_count = 0;
	FILE *file;

	replay_begin(name);
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
	replay_lines(0);
	replay_open();
	for (int i = 0; i < head_count; i++)
		check_head(heads[i]);
	for (int i = 0; i < replay.thread_count; i++)
		if (replay.threads[i].began)
			CHECK_FAIL("%s: a step of %s is open at the end", name, replay.threads[i].name);
	for (int i = 0; i < replay.count; i++)
		free(replay.lines[i]);
	made_close(&made);
}

TEST(scripts_have_the_iterations_that_their_authors_count)
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

/* What ends must have begun. */
static bool is_possible(enum steps_event event, uint32_t *open)
{
	switch (event) {
	case STEPS_FORWARD_ENDS:
	case STEPS_FORWARD_FAILS:
		event = STEPS_FORWARD_BEGINS;
		break;
	case STEPS_BACKWARD_ENDS:
		event = STEPS_BACKWARD_BEGINS;
		break;
	case STEPS_FUNCTION_ENDS:
		event = STEPS_FUNCTION_BEGINS;
		break;
	case STEPS_OPTIMIZER_ENDS:
	case STEPS_OPTIMIZER_FAILS:
		event = STEPS_OPTIMIZER_BEGINS;
		break;
	default:
		open[event]++;
		return true;
	}
	return open[event] && open[event]--;
}

/* Whatever comes in whatever order: no begin without an end, depths that fit, and iterations in order. */
TEST(any_order_of_events_keeps_begins_and_ends_in_pairs)
{
	static const char optimizers[3];
	uint64_t random = 88172645463325252u;

	for (int run = 0; run < 2000; run++) {
		uint32_t open[STEPS_EVENTS] = { 0 };
		uint64_t before = 0;

		replay_begin("random");
		replay.rules.named = run % 5 == 0;
		for (int i = 0; i < 200; i++) {
			enum steps_event event;

			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			event = (enum steps_event)(random % (STEPS_EVENTS - 2));
			if (event == STEPS_LOOP_WIDENS || /* at any time, it would overlap any steps */
			    (run % 3 && event >= STEPS_PROGRAM_BEGINS && event <= STEPS_PROGRAM_LEAVES) ||
			    !is_possible(event, open))
				continue;
			replay.tick++;
			replay_event((struct steps_input){ .event = event,
			                                   .optimizer = &optimizers[random >> 20 & 1],
			                                   .named = run % 10 == 0 && random >> 21 & 1,
			                                   .grad = random >> 22 & 1,
			                                   .training = random >> 23 & 1,
			                                   .has_parameters = random >> 24 & 3,
			                                   .accumulates = random >> 26 & 1,
			                                   .loop = random >> 27 & 1,
			                                   .transformed = random >> 28 & 1 });
		}
		replay_event((struct steps_input){ .event = run % 2 ? STEPS_EXIT : STEPS_THREAD_ENDS });
		CHECK_EQ(replay.threads[0].began, 0);
		replay_open();
		for (size_t i = 0; i < made.source->step_count; i++) {
			CHECK(made.source->steps[i].start_ticks >= before);
			CHECK(!i || made.source->steps[i].number > made.source->steps[i - 1].number);
			before = made.source->steps[i].start_ticks;
		}
		made_close(&made);
	}
}

CHECK_MAIN
