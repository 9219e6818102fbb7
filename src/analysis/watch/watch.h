/*
 * A job that is watched: what changes between two looks at the summaries of its ranks.
 *
 *     dw_watch_begin_look()
 *     dw_watch_take_glance() for each file that could be read
 *     dw_watch_end_look() -> events, each once when it begins and once when it is over
 *
 * Rules:
 *   hang    a rank ended no step and recorded nothing for DW_WATCH_HANG_STEPS times its median step, and at least 10
 *           seconds; it does no long work (pause.h), and waits for no rank that works. It is over when the rank records
 *           something, by the clock of its own recording, and not when its file comes earlier or later than others
 *   lost    the process of a rank failed, or ended within a step and not with status 0, or before a step in which
 * others ended or hang; or, of a rank on another machine, its file was not written for three times as long as between
 * two writes before. The rank that failed first is reported first slow    over several looks a rank works longer in a
 * step than the median rank, by 5% as a rule (excess.h) memory  in the last DW_WATCH_MEMORY_LOOKS writes the rank's own
 * memory became more each time, or what its machine has left became less and the rank took at least a tenth of it; and
 * it ends within an hour if that goes on in a line slower  in DW_WATCH_LOOKS looks in a row the steps of the job took
 * DW_WATCH_SLOWER_RATIO times as long as the median of the looks before
 *
 * How fine these are depends on how often the files are written. Times are in ns since 1970, of the clock that
 * the caller and the files share. A struct dw_watch belongs to one thread.
 */
#pragma once

#include "base/map.h"
#include "watch/excess.h"
#include "watch/glance.h"
#include "watch/pause.h"

#define DW_WATCH_HANG_STEPS 20.0
#define DW_WATCH_LEAST_HANG_NS UINT64_C(10000000000)
/* A rank whose file was seen so often at most is lost after that long at the earliest: summaries come sooner than usual
 * while no step ends. */
#define DW_WATCH_FEW_WRITES 8u
#define DW_WATCH_SILENT_NS UINT64_C(90000000000)
/* A rank goes on if its last record is so much newer than the one after which it stood still. Its clock is measured
 * again and again, so that the same record has times that differ a little. */
#define DW_WATCH_SAME_RECORD_NS UINT64_C(1000000000)
#define DW_WATCH_SLOWER_RATIO 2.0
#define DW_WATCH_LOOKS 3u
#define DW_WATCH_LEAST_STEPS 5u /* between two writes: fewer say nothing about how long a step takes */
#define DW_WATCH_MEMORY_LOOKS 8u
#define DW_WATCH_MEMORY_NS UINT64_C(3600000000000)
#define DW_WATCH_MOST_SAID 16u /* ranks with an event of one kind at a look that are reported each */
#define DW_WATCH_BEFORE 32u    /* most looks of which the median is what is usual */

/* Kinds of events, with their names. */
#define DW_WATCH_EVENTS(X) X(HANG, "hang") X(LOST, "lost") X(SLOW, "slow") X(MEMORY, "memory") X(SLOWER, "slower")
enum dw_watch_kind {
#define X(name, text) DW_WATCH_##name,
	DW_WATCH_EVENTS(X)
#undef X
		DW_WATCH_KINDS
};
const char *dw_watch_kind_name(enum dw_watch_kind kind);

struct dw_watched {
	int32_t rank; /* its number, or -1 */
	uint32_t pid;
	char host[64];
	bool ended;                /* its process ended without failure, no step was open, and no other rank needs it */
	bool is[DW_WATCH_KINDS];   /* what was reported and is not over */
	bool gone;                 /* its process does not live, as the caller or the file says */
	bool had_memory, finished; /* a file had memory of the process; the newest one has none, so that it does not live */
	bool last_open;
	bool has_news;                /* at this look: its file was written again */
	const char *path;          /* for the caller: the file that it was read from */
	bool awaited;                 /* how it ended is not known yet: dwell run, which will say it, lives. Set by the caller */
	uint64_t missed_ns;           /* for the caller: since when it does not live; 0: it lives */
	uint32_t failed;              /* how it ended, as in a summary's rank */
	enum dw_summary_well well;    /* the same */
	uint64_t steps;               /* of the last write, of the run */
	uint64_t span;                /* the index of its newest span, */
	struct dw_glance_sum of_span; /* and what that has */
	unsigned span_log2;
	uint64_t last_step;
	uint64_t moved_ns;       /* since when it stands still: the end of its last step, or its last record */
	uint64_t record_ns;      /* when it made its last record, by the clock of its recording, as far as moved_ns says */
	uint64_t last_record_ns; /* when it made its last record, by its recording; 0: not known */
	uint64_t hung_ns;        /* moved_ns of the hang that was reported last */
	uint64_t written_ns;     /* when the file was written */
	uint64_t excused_ns;     /* the same of a file in which it waited for a rank that worked */
	uint64_t writes;         /* how often, as far as it was seen */
	uint64_t every_ns;       /* longest time between two writes, without those in which it was lost */
	struct dw_pause pause;
	double usual_ns;  /* its median step; 0: not known yet */
	int64_t apart_ns; /* least time from the end of a recording to its file */
	bool apart_known;
	double step_ns, step_work_ns; /* of a step between the last two writes; 0: there are too few */
	struct dw_excess excess;
	unsigned slow_looks; /* of the job */
	struct {
		uint64_t written_ns, resident, left;
	} memory[DW_WATCH_MEMORY_LOOKS]; /* of the last writes, in a ring */
	size_t memory_count;             /* of all writes that have it */
	bool where_known, communication; /* the next ones are as in struct dw_glance */
	uint32_t wait_group;
	uint64_t wait_number;
	struct dw_glance_group groups[DW_GLANCE_GROUPS];
	struct dw_glance_collective collectives[DW_GLANCE_COLLECTIVES];
	unsigned group_count, collective_count;
	char where[200]; /* "in all_reduce of group world, number 512"; or "" */
};

struct dw_watch_event {
	enum dw_watch_kind kind;
	bool over;                        /* it is over */
	const struct dw_watched *watched; /* &watch->job: the whole job, or more ranks than are reported each */
	char text[400];
};

struct dw_watch {
	char name[128];           /* of the job, for the caller: the ranks of one job are compared with each other alone */
	const char *path; /* of the file that is read now, for the ranks in it */
	struct dw_watched *ranks; /* in the order in which they were found */
	size_t count, capacity;
	struct dw_map map; /* from process, host and number to ranks */
	struct dw_excess_noise noise;
	uint64_t now_ns;
	double before[DW_WATCH_BEFORE]; /* mean steps of the job at earlier looks */
	size_t before_count;
	struct dw_watched job; /* what of it is said of the whole job: `is` and `slow_looks` */
};

void dw_watch_begin_look(struct dw_watch *watch, uint64_t now_ns);
/* A rank of a file that was written at that time. `gone`: its process does not live any more. False: memory ran
 * out. */
bool dw_watch_take_glance(struct dw_watch *watch, const struct dw_glance *glance, uint64_t written_ns, bool gone);
/* Calls `report` for each event of this look. False: memory ran out. */
bool dw_watch_end_look(struct dw_watch *watch, void (*report)(void *context, const struct dw_watch_event *event),
                       void *context);
void dw_watch_reset(struct dw_watch *watch);
