/* Groups of ranks, in tables of bounded size. */
#include "groups.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MOST_GROUPS 256u
#define WORKS 256u

struct torch_group {
	const void *object; /* its owner keeps it */
	char name[64];
	uint64_t sequence;
	unsigned size;
	uint32_t id; /* 0: not known yet */
};

static struct torch_group groups[MOST_GROUPS];
static uint32_t group_count;
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

struct torch_group *dwp_group_put(const void *object, const char *name, unsigned size)
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
	}
	pthread_mutex_unlock(&group_lock);
	return group;
}

struct torch_collective dwp_group_count(struct torch_group *group, bool counted)
{
	struct torch_collective collective = { .group = 0 };

	if (!group)
		return collective;
	pthread_mutex_lock(&group_lock);
	if (!group->id)
		group->id = dwell_intern_group(group->name);
	collective.group = group->id;
	collective.size = group->size;
	collective.sequence = counted ? ++group->sequence : 0;
	pthread_mutex_unlock(&group_lock);
	return collective;
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
