/* Groups of ranks, in tables of bounded size. */
#include "groups.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MOST_GROUPS 256u
#define WORKS 256u
#define PAIRS 1024u

struct torch_group {
	const void *object; /* its owner keeps it */
	char name[64];
	uint64_t sequence;
	unsigned size;
	uint32_t id; /* 0: not known yet */
	int rank;    /* of this process, in it; -1: not known */
	bool any;    /* it received a message from any rank */
};

/* Messages from one rank of a group to another. */
struct torch_pair {
	const struct torch_group *group; /* NULL: the place is free */
	int from, to;
	uint64_t sequence;
	uint32_t id;
};

static struct torch_group groups[MOST_GROUPS];
static uint32_t group_count;
static struct torch_pair pairs[PAIRS]; /* by a hash */
static struct {
	const void *work;
	struct torch_collective collective;
} works[WORKS];

/* Guards all of these. No function that is called with it waits for anything else. */
static pthread_mutex_t group_lock = PTHREAD_MUTEX_INITIALIZER;

static void group_after_fork(void)
{
	pthread_mutex_init(&group_lock, NULL);
}

__attribute__((constructor)) static void group_prepare(void)
{
	pthread_atfork(NULL, NULL, group_after_fork);
}

static struct torch_group *group_find_object(const void *object)
{
	for (uint32_t i = 0; i < group_count; i++)
		if (groups[i].object == object)
			return &groups[i];
	return NULL;
}

struct torch_group *dwp_group_find(const void *object)
{
	pthread_mutex_lock(&group_lock);
	struct torch_group *group = group_find_object(object);
	pthread_mutex_unlock(&group_lock);
	return group;
}

struct torch_group *dwp_group_put(const void *object, const char *name, unsigned size, int rank)
{
	struct torch_group *group = NULL, *older;

	pthread_mutex_lock(&group_lock);
	older = group_find_object(object);
	if (older)
		older->object = NULL;
	for (uint32_t i = 0; i < group_count && !group; i++)
		if (strncmp(groups[i].name, name, sizeof groups[i].name - 1) == 0)
			group = &groups[i];
	if (!group && group_count < MOST_GROUPS) {
		group = &groups[group_count++];
		snprintf(group->name, sizeof group->name, "%s", name);
	}
	if (group) {
		group->object = object;
		group->size = size;
		group->rank = rank;
	}
	pthread_mutex_unlock(&group_lock);
	return group;
}

/* Of the calls of all ranks of the group. */
static uint32_t group_id(struct torch_group *group)
{
	if (!group->id)
		group->id = dwell_intern_group(group->name);
	return group->id;
}

struct torch_collective dwp_group_count(struct torch_group *group)
{
	struct torch_collective collective = { .group = 0 };

	if (!group)
		return collective;
	pthread_mutex_lock(&group_lock);
	collective = (struct torch_collective){ .group = group_id(group), .size = group->size, .sequence = ++group->sequence };
	pthread_mutex_unlock(&group_lock);
	return collective;
}

/* The place of a pair, or a free one. NULL: there are too many. */
static struct torch_pair *group_pair(const struct torch_group *group, int from, int to)
{
	uint32_t at = ((uint32_t)(group - groups) * 0x9e3779b1u ^ (uint32_t)from * 0x85ebca6bu ^ (uint32_t)to * 0xc2b2ae35u) >> 7;

	for (uint32_t i = 0; i < 16; i++, at++) {
		struct torch_pair *pair = &pairs[at % PAIRS];

		if (!pair->group || (pair->group == group && pair->from == from && pair->to == to))
			return pair;
	}
	return NULL;
}

/* PyTorch's own names of groups are numbers. */
static struct torch_collective group_count_pair(struct torch_group *group, int from, int to)
{
	struct torch_pair *pair = group_pair(group, from, to);
	bool number = group->name[0] >= '0' && group->name[0] <= '9';
	char name[112];

	if (!pair)
		return (struct torch_collective){ .group = 0 };
	if (!pair->group) {
		*pair = (struct torch_pair){ .group = group, .from = from, .to = to };
		snprintf(name, sizeof name, "%d -> %d of %s%s", from, to, number ? "group " : "", group->name);
		pair->id = dwell_intern_group(name);
	}
	return (struct torch_collective){ .group = pair->id, .size = 2, .sequence = ++pair->sequence };
}

struct torch_collective dwp_group_count_message(struct torch_group *group, enum torch_call direction, int peer)
{
	struct torch_collective message = { .group = 0 };

	if (!group)
		return message;
	pthread_mutex_lock(&group_lock);
	group->any |= direction == TORCH_RECEIVED_OF_ANY;
	if (peer >= 0 && group->rank >= 0 && direction == TORCH_SENT)
		message = group_count_pair(group, group->rank, peer);
	else if (peer >= 0 && group->rank >= 0 && direction == TORCH_RECEIVED && !group->any)
		message = group_count_pair(group, peer, group->rank);
	if (!message.group)
		message.group = group_id(group);
	pthread_mutex_unlock(&group_lock);
	return message;
}

static uint32_t group_work_place(const void *work)
{
	return (uint32_t)((uintptr_t)work * 0x9e3779b97f4a7c15u >> 40) % WORKS;
}

void dwp_group_put_work(const void *work, struct torch_collective collective)
{
	uint32_t at = group_work_place(work);

	pthread_mutex_lock(&group_lock);
	works[at].work = work;
	works[at].collective = collective;
	pthread_mutex_unlock(&group_lock);
}

struct torch_collective dwp_group_take_work(const void *work)
{
	struct torch_collective collective = { .group = 0 };
	uint32_t at = group_work_place(work);

	pthread_mutex_lock(&group_lock);
	if (works[at].work == work) {
		collective = works[at].collective;
		works[at].work = NULL;
	}
	pthread_mutex_unlock(&group_lock);
	return collective;
}
