/*
 * Rules that select cells of the account (account/account.h): what the loop's thread does and what it waits for.
 *
 * A rule's share is that of all its cells. The cells of two rules are never the same, so that no time is claimed twice.
 * Times that records explain (data, communication, devices, checkpoints, evaluation) have rules of their own. Where
 * steps are marked, rules about operators know more than what code of libraries takes.
 */
#include "rules/case.h"

#define DOES(name) DW_ACTIVITY_SET(name)
#define RUNS(activities) [DW_ACCOUNT_RUNS] = (activities), [DW_ACCOUNT_OTHERS] = (activities)
#define WAITS(activities) [DW_ACCOUNT_WAITS] = (activities)

#define REASON "Samples of call stacks and the kernel's account of the loop's thread, without the time for which it had no CPU. By " \
               "the low end of the interval it must be two fifths of that. A share that may be chance is only said with the function " \
               "or range that has most of it, or if it is half of the time."

#define NAMED_WAITS \
	(DW_ACTIVITIES_OF_FILES | DW_ACTIVITIES_OF_THREADS | DOES(SOCKET) | DOES(DELAYED) | DOES(CHILD) | DOES(SLEEP) | DOES(STARTS) | \
	 DOES(BEGINS) | DOES(IMPORTS) | DOES(COMPILES))

static bool cells_has_function(const struct dw_rule_case *at)
{
	return dw_account_sum(at->facts->account, &at->verdict->cells).function != NULL;
}

/* Whether the thread gets objects from another process, or sends it some, for a fifth of the time in which it runs. */
static bool cells_passes(const struct dw_rule_case *at)
{
	return at->facts->account && dw_case_runs(at, DOES(PICKLES)) >= fmax(1e-9, dw_case_runs(at, DW_ACCOUNT_ALL) / 5);
}

/* Then a wait for that process is one for these. */
static bool cells_find_passing(const struct dw_rule_case *at, struct dw_account_select *cells)
{
	if (cells_passes(at))
		cells->activities[DW_ACCOUNT_WAITS] |= DOES(CHILD);
	return true;
}

static bool cells_passes_nothing(const struct dw_rule_case *at)
{
	return !cells_passes(at);
}

#define RESTS 0.30 /* of the loop: less may be the time for which others had the CPU */

static bool cells_rests(const struct dw_rule_case *at)
{
	return at->facts->account->known && at->verdict->share.value >= RESTS;
}

/* Threads that share work wait for each other at its end. Where there are more of them than CPUs, this says nothing of their work. */
static bool cells_have_cpus(const struct dw_rule_case *at)
{
	if (dw_case_fact(at, DW_FACT_CPU_CROWDED)->measured)
		return !(dw_case_crowded(at) > 0);
	return !(dw_case_value(at, DW_FACT_CPU_THREADS) > dw_case_value(at, DW_FACT_CPU_CPUS) &&
	         dw_case_value(at, DW_FACT_CPU_DELAY) >= DW_RULE_NAMED);
}

/* What the thread does, or another one for which it waits: a part of the loop. */
static double cells_do(const struct dw_rule_case *at, dw_activity_set activities)
{
	struct dw_account_select select = dw_account_select_states(1u << DW_ACCOUNT_RUNS | 1u << DW_ACCOUNT_OTHERS, activities);

	return dw_account_sum(at->facts->account, &select).ns / at->facts->account->own_ns;
}

#define LIBRARIES (DOES(ALGEBRA) | DOES(UNKNOWN) | DOES(PACKAGE))

/* Whether a part of the loop is worth naming. */
static bool cells_counts(const struct dw_rule_case *at, dw_activity_set activities)
{
	return cells_do(at, activities) >= DW_RULE_DEADBAND;
}

/* What functions of the program call in libraries is their work, as sin() is that of a filter. */
static bool cells_find_work(const struct dw_rule_case *at, struct dw_account_select *cells)
{
	if (at->facts->account && cells_counts(at, DOES(OWN)) && cells_counts(at, LIBRARIES))
		for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
			cells->activities[state] |= cells->activities[state] ? LIBRARIES : 0;
	return true;
}

/* 1: the cells are also those of libraries. NaN: they are not. */
static double cells_number_work(const struct dw_rule_case *at)
{
	return at->verdict->cells.activities[DW_ACCOUNT_RUNS] & DOES(ALGEBRA) ? 1 : NAN;
}

static bool cells_only_libraries(const struct dw_rule_case *at)
{
	return !cells_counts(at, DOES(OWN));
}

/* Work that has no place but where the program starts comes after all causes: it is in no function that could be changed. */
static bool cells_is_work(const struct dw_rule_case *at)
{
	struct dw_account_sum sum = dw_account_sum(at->facts->account, &at->verdict->cells);

	return !sum.function || sum.root;
}

/* A loop of Python calls libraries for each of its elements: without it, these calls are fewer, too. */
static double cells_gain_python(const struct dw_rule_case *at, double share_ns)
{
	double python = cells_do(at, DOES(INTERPRETER));

	return share_ns * (python + cells_do(at, DOES(PACKAGE))) / fmax(python, 1e-9);
}

/* The call that a rule is about. NULL: the account has none of that number. */
static const struct dw_account_call *cells_call(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	uint32_t call = at->rule->cells->call;

	return call <= account->call_count ? &account->calls[call - 1] : NULL;
}

static double cells_of_call(const struct dw_rule_case *at, dw_activity_set activities)
{
	struct dw_account_select select = dw_account_select_states(~0u, activities);

	select.call = at->rule->cells->call;
	return dw_account_sum(at->facts->account, &select).ns;
}

/* The part of a call in which it gets, clears and gives back memory. */
static double cells_manages(const struct dw_rule_case *at)
{
	const dw_activity_set manages = DW_ACTIVITIES_OF_MEMORY | DOES(CLEARS) | DOES(FAULT) | DOES(RETURNS);

	return cells_of_call(at, manages) / fmax(1, cells_of_call(at, DW_ACCOUNT_ALL));
}

/* 1: the call makes an object; 0: it mostly manages memory; NaN: it does something else. */
static double cells_number_of_call(const struct dw_rule_case *at)
{
	const struct dw_account_call *call = cells_call(at);

	if (call && call->makes)
		return 1;
	return call && cells_manages(at) >= DW_ACCOUNT_MOST ? 0 : NAN;
}

#define MANAGED (DW_ACTIVITIES_OF_MEMORY | DW_ACTIVITIES_OF_COPIES | DOES(FAULT) | DOES(RETURNS))

/* The time of allocating, copying, clearing and freeing memory outside the cause's cells. A copy is often freed by another function than
 * the one that makes it, so a program without the copy saves a part of that time, too. */
static double cells_with_memory(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	struct dw_account_select all = dw_account_select_states(1u << DW_ACCOUNT_RUNS | 1u << DW_ACCOUNT_OTHERS, MANAGED);
	struct dw_account_select own = at->verdict->cells;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		own.activities[state] &= MANAGED;
	return fmax(0, dw_account_sum(account, &all).ns - dw_account_sum(account, &own).ns) / account->own_ns * at->verdict->whole_ns;
}

#define WITH_MEMORY .with_ns = cells_with_memory, .with = "the other work on memory"

/* An object that is made once saves all calls but one. Other calls may compute something new each time: only their work on memory
 * can be saved. */
static double cells_gain_of_call(const struct dw_rule_case *at, double share_ns)
{
	double number = cells_number_of_call(at);

	return number > 0 ? share_ns : number == 0 ? share_ns * cells_manages(at) : NAN;
}

#define FREED "an allocator that keeps freed memory (jemalloc or tcmalloc by LD_PRELOAD, or MALLOC_TOP_PAD_ and MALLOC_MMAP_THRESHOLD_)"
#define DELAYED_NS 40e6 /* by which Linux delays an acknowledgement at least */

/* 1: a wait for an answer is long enough for one delayed acknowledgement, and too short for two. Each wait of that length has a sample. */
static double cells_number_answer(const struct dw_rule_case *at)
{
	struct dw_account_sum sum = dw_account_sum(at->facts->account, &at->verdict->cells);
	double each_ns = sum.samples ? sum.ns / (double)sum.samples : 0;

	return each_ns >= DELAYED_NS && each_ns < 2 * DELAYED_NS ? 1 : NAN;
}

#define CALL(number_, id_) \
	.id = id_, .question = "Does one call take more than any one thing that is done in it?", .kind = DW_RULE_CAUSE, \
	.whole = DW_RULE_OF_LOOP, \
	.cells = &(const struct dw_account_select){ .activities = { RUNS(DW_ACCOUNT_ALL), WAITS(DW_ACCOUNT_ALL) }, \
	                                            .call = (number_) }, \
	.needs = DW_RULE_NEEDS(DW_FACT_RUN_WALL), .threshold = DW_RULE_NAMED, .reason = REASON, .number = cells_number_of_call, \
	.gain_ns = cells_gain_of_call, WITH_MEMORY, \
	.statement = "The call of {cells:callee}[, with that of {cells:other},] in {cells:where} {takes} {share} {of}[: {cells:kinds}].", \
	.remedy = { [DW_WORDS_ANY] = "[?number: make it once and use it again, or take a reference to one that is there]" \
		                         "[!number: keep what it gets from call to call: a state that is reset, or a buffer]" \
		                         "[-number: {cells:remedy}]" }, \
	.look = "dwell report --view hot"

/* Percent of the loop that Python takes with what it calls, if that is more. */
static double cells_number_python(const struct dw_rule_case *at)
{
	double all = at->verdict->share.value > 0 ? cells_gain_python(at, at->verdict->share.value) : 0;

	return round(all * 100) > round(at->verdict->share.value * 100) ? round(all * 100) : NAN;
}

#define RULE_OF(id_, kind_, question_, recorded_, ...) \
	.id = id_, .question = question_, .kind = DW_RULE_##kind_, .whole = DW_RULE_OF_LOOP, \
	.cells = &(const struct dw_account_select){ .explained = (recorded_), .activities = { __VA_ARGS__ }, .call = DW_ACCOUNT_NO_CALL }, \
	.needs = DW_RULE_NEEDS(DW_FACT_RUN_WALL), .threshold = DW_RULE_NAMED, .reason = REASON
#define RULE(id_, kind_, question_, ...) RULE_OF(id_, kind_, question_, 0, __VA_ARGS__)

const struct dw_rule dw_rules_cells[] = {
	{ CALL(1, "call") },
	{ CALL(2, "second-call") },
	{ CALL(3, "third-call") },
	{
		RULE("waiting-file", CAUSE, "Does the thread read or write files, pipes or sockets?", RUNS(DW_ACTIVITIES_OF_FILES),
		     WAITS(DW_ACTIVITIES_OF_FILES)),
		.statement = "Reading and writing files, pipes or sockets {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "read and write in another thread, in larger pieces, and flush less often" },
		.look = "dwell report --view waits",
	},
	{
		RULE("waiting-answer", CAUSE, "Does the thread wait for a socket?", WAITS(DOES(SOCKET))),
		.statement = "Waiting for sockets or other descriptors {takes} {share} {of}[, most of it in {cells:most}].",
		.number = cells_number_answer,
		.remedy = { [DW_WORDS_ANY] = "[?number: if a message is sent by several calls, send it by one, or set TCP_NODELAY: "
			                         "its end waits 40 ms for an acknowledgement; or ]ask for the next answer before this one "
			                         "is used, or for several at once" },
		.look = "dwell report --view waits",
	},
	{
		RULE("waiting-delayed", CAUSE, "Does TCP hold back the ends of messages?", WAITS(DOES(DELAYED))),
		.statement = "Waiting for TCP to send the ends of messages {takes} {share} {of}[, most of it in {cells:most}]: an end that "
		             "another call sends waits until the other side has acknowledged what came before it.",
		.remedy = { [DW_WORDS_ANY] = "send a message by one call (one buffer, writev() or sendmsg()), or set TCP_NODELAY" },
		.look = "dwell report --view waits",
	},
	{
		RULE("waiting-lock", CAUSE, "Does the thread wait for locks?", WAITS(DOES(LOCK))),
		.statement = "Waiting for locks {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "hold the lock for less time, or give each thread data of its own" },
		.look = "dwell report --view waits",
	},
	{
		RULE("waiting-gil", CAUSE, "Does the thread wait for the lock of Python's interpreter?", WAITS(DOES(GIL))),
		.statement = "Waiting for the interpreter's lock (GIL) {takes} {share} {of}[, most of it in {cells:most}]: other threads "
		             "run Python meanwhile.",
		.remedy = { [DW_WORDS_ANY] = "processes in place of threads, or work that gives the lock up: whole arrays, compiled code" },
		.look = "dwell report --view waits",
	},
	{
		RULE("hand-over", CAUSE, "Do locks and calls that wake threads take CPU time?", RUNS(DW_ACTIVITIES_OF_THREADS)),
		.statement = "Locking, unlocking and waking other threads {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "hand over many pieces of work at once, and wake a thread only if one waits" },
		.look = "dwell report --view hot",
	},
	{
		RULE("beginning-threads", CAUSE, "Does beginning threads take time?", RUNS(DOES(BEGINS)), WAITS(DOES(BEGINS))),
		.statement = "Beginning threads {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "begin them once, as many as there are CPUs, and hand work to them" },
		.look = "dwell report --view hot",
	},
	{
		RULE("waiting-thread", CAUSE, "Does the thread wait for threads that have more work, or wait?",
		     WAITS(DOES(THREAD) | DOES(BARRIER))),
		.applies = cells_have_cpus,
		.statement = "Waiting for other threads {takes} {share} {of}[, most of it in {cells:most}]: they have more work "
			"than this one, "
		             "or wait, too.",
		.remedy = { [DW_WORDS_ANY] = "give the threads equal work, in smaller pieces, or find what they wait for" },
		.look = "dwell report --view waits",
	},
	{
		RULE("passing", CAUSE, "Do objects that are passed between processes take time?", RUNS(DOES(PICKLES))),
		.cells_of = cells_find_passing, /* and waits for the other process, if pickling is a fifth of what the thread runs */
		.statement = "Passing objects between processes {takes} {share} {of}[, most of it in {cells:most}]: each is "
		             "pickled, sent and made again, with all that it refers to.",
		.remedy = {
			[DW_WORDS_ANY] = "pass small pieces of bytes, or memory that is shared",
			[DW_WORDS_PYTHON] = "give what all tasks need to each process once, by Pool(initializer=...) or a global that "
			                    "is set before the fork, and pass to a task only what differs",
		},
		.look = "dwell report --view hot",
	},
	{
		RULE("waiting-child", CAUSE, "Does the thread wait for other processes?", WAITS(DOES(CHILD))),
		.no_gain = true,
		.applies = cells_passes_nothing,
		.statement = "Waiting for other processes {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "start them together, or ones that stay, and give them work in larger pieces" },
		.look = "dwell report --view waits",
	},
	{
		RULE("sleeping", CAUSE, "Does the thread sleep?", WAITS(DOES(SLEEP))),
		.statement = "The program sleeps for {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "wait for the event itself, not for a time" },
		.look = "dwell report --view waits",
	},
	{
		RULE("idle", CAUSE, "Does the thread wait for something that is not known?", WAITS(~NAMED_WAITS)),
		.applies = dw_case_has_place,
		.statement = "The program waits for {share} {of}[, most of it in {cells:most}]; what it waits for was not seen.",
		.look = "dwell report --view waits",
	},
	{
		RULE("not-running", CAUSE, "Does the thread not run for a time of which the kernel says nothing?",
		     [DW_ACCOUNT_UNKNOWN] = DW_ACCOUNT_ALL),
		.applies = cells_rests,
		.statement = "The thread does not run for {share} {of}[, most of it in {cells:most}]: it waits, or has no CPU; "
			"the kernel does not "
		             "say which.",
		.remedy = { [DW_WORDS_ANY] = "find the sleep, the lock, the file or the answer of another program that it waits for" },
		.look = "dwell report --view steps",
	},
	{
		RULE("spinning", CAUSE, "Does the thread use the CPU to wait?", RUNS(DOES(SPIN)), [DW_ACCOUNT_SPINS] = DW_ACCOUNT_ALL),
		.applies = cells_have_cpus,
		.statement = "The thread uses the CPU to wait for {share} {of}[, most of it in {cells:most}]: it spins, or "
			"reads the clock.",
		.remedy = { [DW_WORDS_ANY] = "wait in a function that sleeps; give the threads of a team equal parts, as "
			"schedule(dynamic) does" },
		.look = "dwell report --view hot",
	},
	{
		RULE("page-faults", CAUSE, "Does memory that is touched for the first time take time?", RUNS(DOES(FAULT) | DOES(RETURNS))),
		.no_gain = true,
		.statement = "Getting memory from the system and returning it {takes} {share} {of}[, most of it in {cells:most}]"
		             "[?cpu.faults_minor: : {cpu.faults_minor:often} page fault{cpu.faults_minor:s} {each}].",
		.remedy = {
			[DW_WORDS_ANY] = "keep large buffers from step to step, or MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=-1 in the "
			                 "environment: malloc maps large ones anew each time",
			[DW_WORDS_PYTORCH] = FREED,
		},
		.look = "dwell report --view hot",
	},
	{
		RULE("allocator", CAUSE, "Does the allocator take time?", RUNS(DW_ACTIVITIES_OF_MEMORY)),
		WITH_MEMORY,
		.statement = "Allocating and freeing memory {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "keep buffers, and small objects in one array in place of lists and trees of nodes",
			[DW_WORDS_PYTORCH] = FREED,
		},
		.look = "dwell report --view hot",
	},
	{
		RULE("copies", CAUSE, "Does copying take time?", RUNS(DW_ACTIVITIES_OF_COPIES)),
		WITH_MEMORY,
		.statement = "Copying and clearing memory {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "write where the data is needed, and pass references" },
		.look = "dwell report --view hot",
	},
	{
		RULE("text", CAUSE, "Does making or reading text take time?", RUNS(DOES(TEXT) | DOES(LOGS))),
		.statement = "Making and reading text {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "do it less often, keep the length of text that grows, or store the data in binary form" },
		.look = "dwell report --view hot",
	},
	{
		RULE("matches", CAUSE, "Does matching of regular expressions take time?", RUNS(DOES(MATCHES))),
		.statement = "Matching regular expressions {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "an expression in which no two parts can match the same text: others try all ways; or "
			                         "look for a plain text first" },
		.look = "dwell report --view hot",
	},
	{
		RULE("look-ups", CAUSE, "Do look-ups in tables and trees take time?", RUNS(DOES(LOOK_UP))),
		.no_gain = true,
		.statement = "Look-ups in hash tables and trees {take} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "a hash function that spreads the keys, or a number for each key, as index of an array" },
		.look = "dwell report --view hot",
	},
	{
		RULE("compression", CAUSE, "Does compression take time?", RUNS(DOES(COMPRESSION))),
		.no_gain = true,
		.statement = "Compression {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "do it in another thread, at a lower level, or once" },
		.look = "dwell report --view hot",
	},
	{
		RULE("queries", CAUSE, "Do queries of a database take time?", RUNS(DOES(QUERIES))),
		.statement = "Database queries {take} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "an index for what is looked up, one query for many rows, or a statement prepared once" },
		.look = "dwell report --view hot",
	},
	{
		RULE("exceptions", CAUSE, "Do exceptions take time?", RUNS(DOES(THROWS))),
		.statement = "Throwing and catching exceptions {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "return what is expected as a value, as std::from_chars() does" },
		.look = "dwell report --view hot",
	},
	{
		RULE("reference-counts", CAUSE, "Do counts of references take time?", RUNS(DOES(COUNTS))),
		.statement = "Counting references to shared objects {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "const auto & in loops and parameters, or std::move(): each copy of a std::shared_ptr "
		                            "counts" },
		.look = "dwell report --view hot",
	},
	{
		RULE("objects", CAUSE, "Does arithmetic on Python's objects in arrays take time?", RUNS(DOES(OBJECTS))),
		.statement = "Arithmetic on Python's objects in arrays (dtype=object) {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "array.astype(float), or a type of numbers where the array is made" },
		.look = "dwell report --view hot",
	},
	{
		RULE("checks", CAUSE, "Do checks for debugging take time?", RUNS(DOES(CHECKS))),
		.statement = "Checks for debugging {take} {share} {of}[, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "build without sanitizers",
			[DW_WORDS_PYTORCH] = "torch.autograd.set_detect_anomaly(False)",
			[DW_WORDS_LIGHTNING] = "Trainer(detect_anomaly=False)",
		},
		.look = "dwell report --view hot",
	},
	{
		RULE("random-numbers", CAUSE, "Do random numbers take time?", RUNS(DOES(RANDOM))),
		.no_gain = true,
		.statement = "Random numbers {take} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "make many at once, or with a faster generator" },
		.look = "dwell report --view hot",
	},
	{
		RULE("loading-code", CAUSE, "Does loading code take time?", RUNS(DOES(STARTS)), WAITS(DOES(STARTS))),
		.unmarked = true,
		.no_gain = true,
		.statement = "Loading libraries {takes} {share} {of}[, most of it in {cells:most}].",
		.look = "dwell report --view hot",
	},
	{
		RULE("imports", CAUSE, "Do imports of Python packages take time?", RUNS(DOES(IMPORTS)), WAITS(DOES(IMPORTS))),
		.unmarked = true,
		.no_gain = true,
		.statement = "Importing Python packages {takes} {share} {of}[: {cells:imports}][, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "import where it is used, or less of a package" },
		.look = "dwell report --view account",
	},
	{
		RULE("compiling", CAUSE, "Does compiling at run time take time?", RUNS(DOES(COMPILES)), WAITS(DOES(COMPILES))),
		.unmarked = true,
		.statement = "Compiling at run time {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "compile once, and use again what is made: of patterns, re.compile(); of models, for fewer "
			                         "shapes, and with a cache on disk" },
		.look = "dwell report --view account",
	},
	{
		RULE_OF("collector", CAUSE, "Does the garbage collector interrupt the loop?",
		        1u << DW_SHARE_COLLECTOR, RUNS(DOES(COLLECTOR))),
		.part = DW_RULE_PART_COLLECTOR,
		.statement = "Garbage collection takes {share} {of}[, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "allocate fewer objects that are collected",
			[DW_WORDS_PYTHON] = "gc.freeze() once the model and the data are made, or gc.disable() and "
			                    "a gc.collect() now and then",
			[DW_WORDS_LIGHTNING] = "gc.freeze() in on_train_start, or gc.disable() there and a "
			                       "gc.collect() after each epoch",
		},
		.look = "dwell report --view gc",
	},
	{
		RULE("python", CAUSE, "Does the Python interpreter take time?", RUNS(DOES(INTERPRETER))),
		.group = DW_RULE_HOST,
		.gain_ns = cells_gain_python,
		.number = cells_number_python,
		.statement = "The interpreter of Python {takes} {share} {of}[, {number}% with the code of libraries that it runs]"
		             "[, most of it in {cells:most}][, called by {cells:by}].",
		.remedy = { [DW_WORDS_ANY] = "operations on whole arrays in place of loops, or work once instead of in every pass" },
		.look = "dwell report --view hot",
		.unless = DW_FACT_SAMPLES_STEP,
		.record = "dwell run --sample 100 tells which functions",
	},
	{
		RULE("libraries", WORK, "Does code of libraries take time?", RUNS(LIBRARIES)),
		.applies = cells_only_libraries,
		.unmarked = true,
		.is_form = cells_is_work,
		.no_gain = true,
		.statement = "Code of {cells:library} {takes} {share} {of}[, most of it called in {cells:most}].",
		.look = "dwell report --view hot",
	},
	{
		RULE("own-code", WORK, "Which function of the program takes most time?", RUNS(DOES(OWN))),
		.unmarked = true,
		.number = cells_number_work,
		.cells_of = cells_find_work, /* and what they call in libraries */
		.is_form = cells_is_work,
		.no_gain = true,
		.applies = cells_has_function,
		.statement = "The program's own code[?number: , with the libraries that it calls,] {takes} {share} {of}, "
		             "{cells:part} of it in {cells:function}[, called by {cells:by}][, {cells:and}].",
		.look = "dwell report --view hot",
	},
	{ 0 },
};
