/*
 * What a watch needs of the file of a summary, read without the rest.
 *
 * A watch reads thousands of files again and again. So names, layers and arrivals are skipped, spans stay undecoded
 * until dw_glance_sum() asks for the newest ones, and the checksum is not computed: files are replaced whole, and each
 * length in them is checked.
 */
#pragma once

#include "summary/summary.h"

#define DW_GLANCE_GROUPS 8u       /* groups whose last collective is kept; those after them are left out */
#define DW_GLANCE_COLLECTIVES 12u /* operations of groups whose last collective is kept */

struct dw_glance_group {
	uint32_t name;     /* its hash */
	uint64_t sequence; /* of the last collective that the rank entered */
};

/* The last collective of one operation in a group. */
struct dw_glance_collective {
	uint32_t group;    /* the hash of its name */
	uint64_t sequence; /* its number in the group */
	char operation[32];
};

struct dw_glance {
	char job[128], host[64];
	int32_t rank; /* -1: not known */
	uint32_t pid;
	uint64_t steps, ns, last_step, resident_bytes, left_bytes;
	double usual_ns; /* the median step, by buckets; 0: there is none */
	bool last_open;  /* the last step did not end */
	bool where_known, followed;
	uint64_t end_ns, silent_ns;
	uint64_t inside_ns;          /* for how long it is in the outermost open communication; 0: in none, or not known */
	char where[200];             /* "in all_reduce of group world, number 512"; "" */
	bool communication;          /* it is inside communication */
	enum dw_summary_pause pause; /* it is inside an evaluation or a checkpoint, too */
	uint32_t failed;             /* as in a summary's rank */
	enum dw_summary_well well;
	uint64_t cpu_ns;     /* of its process until the file was written; 0: not known */
	bool spins;          /* it has communication or a device of which waits are not recorded; they may use a CPU */
	uint32_t wait_group; /* hash of the group of the open collective with the lowest number; 0: none */
	uint64_t wait_number;
	struct dw_glance_group groups[DW_GLANCE_GROUPS];
	struct dw_glance_collective collectives[DW_GLANCE_COLLECTIVES];
	unsigned group_count, collective_count, span_log2;
	/* The spans: `made` of a summary in memory, or the messages of a file. */
	const struct dw_summary_span *made;
	struct {
		const unsigned char *bytes;
		size_t length;
	} spans[DW_SUMMARY_SPANS];
	size_t span_count;
};

/* Fills a glance from a rank that was read already. The rank must live as long as the glance, which points into it. */
void dw_glance_take(struct dw_glance *glance, const struct dw_summary_rank *rank);
/* Calls `found` for each rank of a summary's file. `glance` is scratch. False: it is no summary, or damaged. */
bool dw_glance_read(struct dw_glance *glance, const unsigned char *bytes, size_t length,
                    void (*found)(void *context, const struct dw_glance *glance), void *context);
/* Steps and their times in spans. Work is without communication, and with the time between steps. */
struct dw_glance_sum {
	uint64_t steps, ns, work_ns;
};

/* The sum of the spans from index `from` on. *newest: the index of the newest span, *of_newest: what it has. */
struct dw_glance_sum dw_glance_sum(const struct dw_glance *glance, uint64_t from, uint64_t *newest,
                                   struct dw_glance_sum *of_newest);
