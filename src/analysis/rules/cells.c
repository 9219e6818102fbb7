/*
 * Rules that select cells of the account (account/account.h), for runs in which no step is marked.
 *
 * A rule's share is that of all its cells. The cells of two rules are never the same, so that no time is claimed twice.
 * Times that records explain (data, communication, devices, checkpoints, evaluation) have rules of their own.
 */
#include "rules/case.h"

#define STATE(name) (1u << DW_ACCOUNT_##name)
enum {
	EXPLAINED = 1 << DW_SHARE_DATA | 1 << DW_SHARE_COMMUNICATION | 1 << DW_SHARE_DEVICE | 1 << DW_SHARE_CHECKPOINT | 1 << DW_SHARE_EVALUATION,
	/* In a Python program these are times of operators. */
	OPERATORS = 1 << DW_SHARE_FORWARD | 1 << DW_SHARE_BACKWARD | 1 << DW_SHARE_OPTIMIZER | 1 << DW_SHARE_OPERATORS,
};
#define CELLS(states_, activities_) \
	&(const struct dw_account_select) { .states = (states_), .activities = (activities_), .shares = ~(uint32_t)EXPLAINED }
#define RAN (STATE(RUNS) | STATE(OTHERS))
#define DOES(name) DW_ACTIVITY_SET(name)

#define LEAST 0.07 /* of the run; less is within what varies from run to run */
#define REASON "The cells of the account with this state and activity take this part of the run."

#define NAMED_WAITS (DW_ACTIVITIES_OF_FILES | DW_ACTIVITIES_OF_THREADS | DOES(SOCKET) | DOES(CHILD) | DOES(SLEEP) | DOES(STARTS))

static bool cells_has_function(const struct dw_rule_case *at)
{
	return dw_account_sum(at->facts->account, at->rule->cells).function != NULL;
}

/* Work comes after all causes: no one knows how much of it can go. */
static bool cells_is_work(const struct dw_rule_case *at)
{
	return true;
}

#define RULE(id, kind, question, states, activities) RULE_OF(id, kind, question, CELLS(states, activities))
#define RULE_OF(id_, kind_, question_, cells_)                                                       \
	.id = id_, .question = question_, .kind = DW_RULE_##kind_, .whole = DW_RULE_OF_LOOP,              \
	.cells = (cells_), .needs = DW_RULE_NEEDS(DW_FACT_RUN_WALL), .threshold = LEAST, \
	.reason = REASON

static const struct dw_account_select interpreter = { .states = RAN, .activities = DOES(INTERPRETER), .shares = ~(uint32_t)(EXPLAINED | OPERATORS) };

const struct dw_rule dw_rules_cells[] = {
	{
		RULE("account-files", CAUSE, "Does the thread wait for files?", STATE(WAITS) | RAN, DW_ACTIVITIES_OF_FILES),
		.statement = "Reading and writing files or pipes {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "read and write in another thread, in larger pieces, and flush less often" },
		.look = "dwell report --view waits",
	},
	{
		RULE("account-sockets", CAUSE, "Does the thread wait for a socket?", STATE(WAITS), DOES(SOCKET)),
		.statement = "Waiting for sockets or other descriptors {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "ask for the next answer before this one is used, or for several at once" },
		.look = "dwell report --view waits",
	},
	{
		RULE("account-locks", CAUSE, "Does the thread wait for locks?", STATE(WAITS), DOES(LOCK)),
		.statement = "Waiting for locks {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "hold the lock for less time, or give each thread data of its own" },
		.look = "dwell report --view waits",
	},
	{
		RULE("account-threads", CAUSE, "Does the thread wait for threads that wait, too?", STATE(WAITS), DOES(THREAD) | DOES(BARRIER)),
		.statement = "Waiting for other threads {takes} {share} {of}[, most of it in {cells:most}]: as long as no "
		             "thread of the program works.",
		.remedy = { [DW_WORDS_ANY] = "find what the thread that is waited for waits for itself" },
		.look = "dwell report --view waits",
	},
	{
		RULE("account-children", CAUSE, "Does the thread wait for child processes?", STATE(WAITS), DOES(CHILD)),
		.no_gain = true,
		.statement = "Waiting for child processes {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "start them together, or start one that stays" },
		.look = "dwell report --view waits",
	},
	{
		RULE("account-sleeps", CAUSE, "Does the thread sleep?", STATE(WAITS), DOES(SLEEP)),
		.statement = "The program sleeps for {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "wait for the event itself, not for a time" },
		.look = "dwell report --view waits",
	},
	{
		RULE("account-waits", CAUSE, "Does the thread wait for something that is not known?", STATE(WAITS), ~NAMED_WAITS & ((1u << DW_ACTIVITY_COUNT) - 1)),
		.statement = "The program waits for {share} {of}[, most of it in {cells:most}]; for what was not seen.",
		.look = "dwell report --view waits",
	},
	{
		RULE("account-spins", CAUSE, "Does the thread use the CPU to wait?", STATE(SPINS), 0),
		.statement = "The thread spins for {share} {of} until another thread is ready[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "give the threads equal parts, as schedule(dynamic) does, or wait in a function that sleeps" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-memory", CAUSE, "Does the allocator take time?", RAN, DW_ACTIVITIES_OF_MEMORY | DOES(RETURNS) | DOES(FAULT)),
		.statement = "To allocate and free memory {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "keep buffers, and small objects in one array in place of lists and trees of nodes" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-copies", CAUSE, "Does copying take time?", RAN, DW_ACTIVITIES_OF_COPIES),
		.statement = "Copying and clearing memory {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "write where the data is needed, and pass references" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-text", CAUSE, "Does making or reading text take time?", RAN, DOES(TEXT) | DOES(LOGS)),
		.no_gain = true,
		.statement = "Making and reading text {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "do it less often, or store the data in binary form" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-look-up", CAUSE, "Do look-ups in tables and trees take time?", RAN, DOES(LOOK_UP)),
		.no_gain = true,
		.statement = "Look-ups in hash tables and trees {take} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "number the keys once, and use the number as an index of an array" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-compression", CAUSE, "Does compression take time?", RAN, DOES(COMPRESSION)),
		.no_gain = true,
		.statement = "Compression {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "do it in another thread, at a lower level, or once" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-random", CAUSE, "Do random numbers take time?", RAN, DOES(RANDOM)),
		.no_gain = true,
		.statement = "Random numbers {take} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "make many at once, or with a faster generator" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-start-up", CAUSE, "Does loading code take time?", RAN | STATE(WAITS), DOES(STARTS)),
		.no_gain = true,
		.statement = "Loading libraries and modules {takes} {share} {of}.",
		.remedy = { [DW_WORDS_PYTHON] = "import where it is used, or less of a package" },
		.look = "dwell report --view hot",
	},
	{
		RULE_OF("account-python", CAUSE, "Does the Python interpreter take time?", &interpreter),
		.no_gain = true,
		.statement = "Python {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "operations on whole arrays in place of loops, or work once instead of in every pass" },
		.look = "dwell report --view hot",
	},
	{
		RULE("account-library", WORK, "Does code of libraries take time?", RAN, DOES(ALGEBRA) | DOES(UNKNOWN)),
		.is_form = cells_is_work,
		.no_gain = true,
		.statement = "Code of libraries {takes} {share} {of}[, {cells:part} of it called in {cells:function}].",
		.look = "dwell report --view hot",
	},
	{
		RULE("account-function", WORK, "Which function of the program takes most time?", RAN, DOES(OWN)),
		.is_form = cells_is_work,
		.no_gain = true,
		.applies = cells_has_function,
		.statement = "The program's own code {takes} {share} {of}, {cells:part} of it in {cells:function}.",
		.look = "dwell report --view hot",
	},
	{ 0 },
};
