/*
 * Rules: what makes training longer than necessary, how much of it, and what to try.
 *
 *     facts of a step (src/analysis/facts) -> rules -> verdicts -> views `verdict` and `overview`
 *
 * A rule is one entry of a table in this folder: the facts that it needs, the share that it tests,
 * the threshold with its reason, an upper bound of the gain, a sentence, and remedies in the words
 * of each framework. judge.c applies all rules and ranks those that fire; it contains no code for a
 * single rule. A rule reads only facts: for a new quantity, add a fact.
 *
 * Some guards hold for all rules. A cause under 5% of the loop is not reported. A statement is firm only if it
 * is based on at least 20 steady steps, or is a sum of records; otherwise it says "may". A rule whose facts were not
 * measured is only in the list of all rules. Rules of one group explain the same time, and only one
 * of them is reported.
 */
#pragma once

#include <stdbool.h>

#include "account/account.h"
#include "base/arena.h"
#include "facts/facts.h"

#define DW_RULE_DEADBAND 0.05   /* smaller causes are within the variation between runs */
#define DW_RULE_NAMED 0.07      /* a cause of a twelfth of the time must be named; what is measured
                                 * of it varies by some tenths between runs */
#define DW_RULE_LARGE 0.10      /* what is partly estimated, or of a part of the time, must be as large as this */
#define DW_RULE_MOST 0.5         /* half of the whole, as in DW_ACCOUNT_MOST */
#define DW_RULE_FIRM_STEPS 20u  /* over fewer steps the interval of a median means little */
#define DW_RULE_TEXT 400u       /* bytes of a sentence */

enum dw_rule_kind {
	DW_RULE_RISK,          /* can end the run: before all causes */
	DW_RULE_CAUSE,         /* takes time: ranked by the time that can go; by half of its time if that is not known */
	DW_RULE_WORK,          /* time of useful work: ranked by half of it, because no work goes away
	                        * entirely */
	DW_RULE_CHANCE,        /* a possible improvement; takes no measured time */
	DW_RULE_ANSWER,        /* reported only if there is no risk and no cause */
	DW_RULE_INFORMATION,   /* before the answer if it is about a large part of the loop */
};

/* Rules of one group explain the same time. Of the rules that fire, one is reported: the first in
 * the table whose time is at least half of the longest time in the group. So tables list specific
 * rules before general ones. */
enum dw_rule_group {
	DW_RULE_ALONE,         /* in no group */
	DW_RULE_DATA,
	DW_RULE_RANKS,
	DW_RULE_HOST,
	DW_RULE_OPTIMIZER,
	DW_RULE_OPERATORS,
	DW_RULE_EVALUATION,
	DW_RULE_PACE,          /* change over the run */
	DW_RULE_GROUPS
};

/* The exclusive part of the time from which a gain comes. Used for the bound of all gains together:
 * the sum of the gains from one part cannot exceed the part. */
enum dw_rule_part {
	DW_RULE_PART_NONE,
	DW_RULE_PART_DATA,
	DW_RULE_PART_COMMUNICATION,
	DW_RULE_PART_COLLECTOR,
	DW_RULE_PART_COMPUTE,       /* operators, and Python between them */
	DW_RULE_PART_OUTSIDE,       /* the loop's time outside steps */
	DW_RULE_PART_DEVICE,        /* the device's time without computation, where it was recorded */
	DW_RULE_PART_COUNT
};

/* The whole of a share. */
enum dw_rule_whole {
	DW_RULE_OF_STEP,         /* the steady steps: a verdict has it as a part of the loop, where that is known; not of a device */
	DW_RULE_OF_LOOP,         /* from the begin of the first step to the end of the last one */
	DW_RULE_OF_RUN,          /* without the time for which its thread had no CPU */
	DW_RULE_OF_PEAK,         /* the most memory in use */
	DW_RULE_OF_CAPACITY,     /* the memory that there is */
	DW_RULE_OF_COUNT
};

struct dw_amount {
	double value, low, high; /* `value` is NaN if it cannot be computed */
};

struct dw_rule_case;

enum { DW_RULE_MOST_ROWS = 4 };

/* Rows of a table of the loop: of its parts, its operators, or the device's parts. */
struct dw_rule_rows {
	const char *names[DW_RULE_MOST_ROWS];
	size_t count;
	double share; /* their sum, of the loop */
	double ns;    /* the same, in a mean step; 0: not known */
};

/* A rule may have a remedy in the words of each framework. If it has none for the program's
 * framework, the next more general one is used: Lightning, Ignite -> PyTorch -> Python -> any; JAX
 * -> Python -> any; C -> any. */
enum dw_rule_words {
	DW_WORDS_ANY, DW_WORDS_C, DW_WORDS_PYTHON, DW_WORDS_PYTORCH, DW_WORDS_LIGHTNING, DW_WORDS_IGNITE,
	DW_WORDS_JAX, DW_WORDS_COUNT
};

/* Members from `whole_of` on may be 0 or NULL, except `needs`, `threshold` and `statement`. */
struct dw_rule {
	const char *id, *question;
	enum dw_rule_kind kind;
	enum dw_rule_group group;
	enum dw_rule_part part;
	enum dw_rule_whole whole;
	enum dw_rule_whole (*whole_of)(const struct dw_rule_case *); /* if it depends on the facts */
	bool host_times;       /* the rule assumes that operators compute on the host: it is not reported
	                        * if a device was used, whether its work was recorded or not. Nor are rules about
	                        * a device if a part of its work is missing. */
	bool of_lengths;       /* the rule compares how long the host's steps are: not measured if the device is far
	                        * behind the host, whose steps then wait for its queue */
	bool waits;            /* the thread sleeps in that time: while other programs make it wait for CPUs, the
	                        * threshold is lower */
	/* The share is that of these cells of the account; or of those that the function sets or adds, if it finds some. The cells of two
	 * rules are never the same, except those of a range, of which a rule has what no other one claims. */
	const struct dw_account_select *cells;
	bool (*cells_of)(const struct dw_rule_case *, struct dw_account_select *);
	/* Where the time of a rule lies whose share is no sum of cells: for {cells:most}. */
	const struct dw_account_select *place;
	bool unmarked;         /* only where no work in marked steps has a name, or no other rule says anything of them */
	bool marked;           /* only where they are */
	const enum dw_fact_id *needs; /* DW_RULE_NEEDS(...): all must be measured */
	/* The share of the whole. By default, it is computed from the first fact in `needs`: a ratio is
	 * used unchanged, a time is divided by the whole. */
	struct dw_amount (*share)(const struct dw_rule_case *);
	/* Of the share: above 0, and at most 1, as shares are. A rule that decides by a factor or a count has it as a fact in `needs`,
	 * which `applies` compares: see loader-one-slow-worker. */
	double threshold;
	/* The rows of a table that the sentence is about. Their share is printed, so that it is the table's: the share above decides, and
	 * says how much can go. */
	void (*rows)(const struct dw_rule_case *, struct dw_rule_rows *);
	/* Whether WORK is the usual form of such programs: then it is ranked after all causes. */
	bool (*is_form)(const struct dw_rule_case *);
	const char *reason;    /* why this threshold, and why the further conditions */
	bool (*applies)(const struct dw_rule_case *);
	/* The time of another cause that follows from this one, in ns per step: it is ranked with it. */
	double (*follows_ns)(const struct dw_rule_case *);
	/* An upper bound of the gain in ns per step; by default the share's time. What the place of its cells does besides is added to it,
	 * or what `rest_ns` says, which is called `rest`. */
	double (*gain_ns)(const struct dw_rule_case *, double share_ns);
	double (*rest_ns)(const struct dw_rule_case *);
	const char *rest;
	/* Time of other functions that may go together with the cause, and its name in the sentence. The bound includes it in place of the
	 * rest of the function, if it is more. */
	double (*with_ns)(const struct dw_rule_case *);
	const char *with;
	bool no_gain;          /* the gain is unknown */
	double (*number)(const struct dw_rule_case *); /* for templates; NaN: unknown */
	const char *statement; /* a template: see sentence.c */
	const char *remedy[DW_WORDS_COUNT]; /* templates; NULL: none */
	/* Where to read more, a template: "dwell report --view gc". */
	const char *look;
	/* If the fact `unless` is not measured or 0, `record` replaces `look`: it says how to record
	 * the fact. Not used for traces of other profilers. */
	enum dw_fact_id unless;
	const char *record;    /* "dwell run --shapes tells which tensors" */
};

#define DW_RULE_NEEDS(...) (const enum dw_fact_id[]){ __VA_ARGS__, DW_FACT_COUNT }

/* The rule at `index` in the order of the tables, or NULL after the last one. */
const struct dw_rule *dw_rule_at(size_t index);

enum dw_rule_state {
	DW_RULE_FIRED,
	DW_RULE_COVERED,       /* its condition holds, but another rule explains the same time */
	DW_RULE_QUIET,         /* its facts are measured, and its condition does not hold */
	DW_RULE_NOT_MEASURED,  /* `missing` says what to record */
};

struct dw_verdict {
	const struct dw_rule *rule;
	enum dw_rule_state state;
	enum dw_rule_whole whole;
	bool firm;
	bool form;             /* see is_form */
	bool large;            /* information about so much of the loop that it comes before the answer */
	bool tied;             /* one of the first two causes, and their intervals overlap */
	struct dw_amount share;
	double time_ns;        /* the share's time per step; NaN if it is no share of time */
	double follows_ns;     /* see follows_ns of the rule */
	bool has_cells;        /* the share is that of */
	struct dw_account_select cells;
	double placed;         /* the part of its time that lies in the function that it names */
	double claimed;        /* the part of them that other causes have */
	struct dw_rule_rows rows; /* if there are any, the share is theirs */
	double gain_ns;        /* upper bound per step; NaN if unknown */
	const char *rest;      /* what goes besides the share's time in the bound: "the rest of read_frame". "": nothing does */
	double rest_ns;        /* the part of the bound that is this */
	bool with;             /* that part comes from the rule's with_ns() */
	bool all;              /* all of the time of the share can go */
	double whole_ns;       /* of which the share is one, and the gain too, per step */
	const char *statement;
	const char *hint;      /* the remedy, what it saves, and where to look, in one; "" if there is none */
	const char *remedy, *look; /* its parts; "" if there is none */
	const char *missing;   /* "record with dwell run --functions"; "" unless not measured */
};

struct dw_verdicts {
	struct dw_verdict *at; /* one for each rule; rules that fired come first, by importance */
	size_t count, fired;   /* number of all verdicts; of those that fired */
	const struct dw_facts *facts; /* what they are of */
	double loop_ns;        /* the loop's time per step */
	double own_ns;         /* the same without the time for which its thread had no CPU: what shares of all together are of */
	double combined_ns;    /* upper bound of the gain per step if the causes of all verdicts were
	                        * removed; NaN if no gain is known */
};

/* Applies all rules. The texts live in `arena`. Returns -1 if out of memory. */
int dw_rules_judge(const struct dw_facts *facts, struct dw_arena *arena, struct dw_verdicts *verdicts);

/* "of the loop", "of the peak" */
const char *dw_rule_whole_text(enum dw_rule_whole whole, const struct dw_facts *facts);
/* "a step", "in the run" */
const char *dw_rule_each(const struct dw_facts *facts);
