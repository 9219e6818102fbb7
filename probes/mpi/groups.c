/* Groups of ranks, and requests; see groups.h. */
#include "groups.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GROUPS 256u
#define MOST_REQUESTS 1024u
#define LISTED_RANKS 64
#define MOST_PAIRS 1024u

struct group {
	MPI_Comm comm;
	bool used;
	char name[112];
	uint64_t members; /* a hash of the ranks */
	uint64_t sequence;
	uint32_t id; /* 0: not known yet */
	int rank;    /* of this process, in it */
	bool any;    /* it received messages from any rank, so those of a pair cannot be counted */
};

/* Messages from one rank of a group to another. */
struct pair {
	uint32_t group; /* index */
	int from, to;
	uint64_t sequence;
	uint32_t id;
};

static struct {
	pthread_mutex_t lock;
	struct group groups[MOST_GROUPS];
	uint32_t count; /* places that were ever used */
	struct pair pairs[MOST_PAIRS]; /* by a hash; sequence 0: the place is free */
	struct {
		uintptr_t request;
		struct dwm_collective collective; /* sequence 0: the place is free */
	} requests[MOST_REQUESTS];
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- calls of MPI ----------------------------------------------------------------------------- */

/* Calls PMPI_NAME of the library `mpi`. */
#define PMPI(name, parameters, ...) ((int(*) parameters)dwm_function(mpi, DWM_##name))(__VA_ARGS__)

int dwm_size(struct dwm_library *mpi, MPI_Comm comm)
{
	int size = 1;

	PMPI(Comm_size, (MPI_Comm, int *), comm, &size);
	return size;
}

int dwm_rank(struct dwm_library *mpi, MPI_Comm comm)
{
	int rank = 0;

	PMPI(Comm_rank, (MPI_Comm, int *), comm, &rank);
	return rank;
}

uint64_t dwm_type_bytes(struct dwm_library *mpi, MPI_Datatype type)
{
	int bytes = 0;

	PMPI(Type_size, (MPI_Datatype, int *), type, &bytes);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Without MPI_Init(), in a program that uses sessions, there is no MPI_COMM_WORLD. */
static bool groups_has_world(struct dwm_library *mpi)
{
	int has = 0;

	PMPI(Initialized, (int *), &has);
	return has != 0;
}

/* ---- names ------------------------------------------------------------------------------------- */

/* Appends "4-7" to a list. */
static size_t groups_list_run(char *text, size_t at, size_t size, int from, int to)
{
	if (at + 24 >= size)
		return at;
	at += (size_t)snprintf(text + at, size - at, "%s%d", at ? "," : "", from);
	if (to > from)
		at += (size_t)snprintf(text + at, size - at, "-%d", to);
	return at;
}

/* The members as ranks of the whole job, "0-3,8": all of them agree on it. */
static void groups_list_members(struct dwm_library *mpi, MPI_Comm comm, struct group *group)
{
	int size = dwm_size(mpi, comm), *own = malloc(2 * (size_t)size * sizeof *own), *world = own ? own + size : NULL;
	char list[LISTED_RANKS + 8] = "";
	MPI_Group members = 0, all = 0; /* MPICH fills in the lower half */
	size_t at = 0;

	if (!own)
		return;
	PMPI(Comm_group, (MPI_Comm, MPI_Group *), comm, &members);
	PMPI(Comm_group, (MPI_Comm, MPI_Group *), mpi->world, &all);
	for (int i = 0; i < size; i++)
		own[i] = world[i] = i;
	PMPI(Group_translate_ranks, (MPI_Group, int, const int *, MPI_Group, int *), members, size, own, all, world);
	PMPI(Group_free, (MPI_Group *), &members);
	PMPI(Group_free, (MPI_Group *), &all);
	for (int i = 0, from = 0; i < size; i++) {
		group->members = (group->members ^ (uint64_t)(uint32_t)world[i]) * 0x100000001b3u;
		if (i + 1 < size && world[i + 1] == world[i] + 1)
			continue;
		at = groups_list_run(list, at, sizeof list, world[from], world[i]);
		from = i + 1;
	}
	if (at + 24 >= sizeof list)
		snprintf(list, sizeof list, "%d of %08x", size, (unsigned)group->members);
	snprintf(group->name, sizeof group->name, "ranks %s", list);
	free(own);
}

/* Names a group that is new. Further communicators of the same ranks get a number: all of these ranks make
 * them in the same order. */
static void groups_name(struct dwm_library *mpi, MPI_Comm comm, struct group *group)
{
	unsigned earlier = 0;

	group->members = 0xcbf29ce484222325u;
	if (comm == mpi->world) {
		snprintf(group->name, sizeof group->name, "MPI_COMM_WORLD");
		return;
	}
	if (groups_has_world(mpi))
		groups_list_members(mpi, comm, group);
	else
		snprintf(group->name, sizeof group->name, "%d ranks of a session", dwm_size(mpi, comm));
	for (uint32_t i = 0; i < state.count; i++)
		earlier += &state.groups[i] != group && state.groups[i].members == group->members;
	if (earlier)
		snprintf(group->name + strlen(group->name), sizeof group->name - strlen(group->name), " #%u",
		         earlier + 1);
}

/* Needs the lock. NULL: there are too many. */
static struct group *groups_get(struct dwm_library *mpi, MPI_Comm comm)
{
	struct group *group = NULL;

	for (uint32_t i = 0; i < state.count; i++)
		if (state.groups[i].used && state.groups[i].comm == comm) {
			group = &state.groups[i];
			break;
		}
	if (!group) {
		if (state.count == MOST_GROUPS)
			return NULL;
		group = &state.groups[state.count++];
		group->comm = comm;
		group->used = true;
		group->rank = dwm_rank(mpi, comm);
		groups_name(mpi, comm, group);
	}
	if (!group->id)
		group->id = dwell_intern_group(group->name);
	return group;
}

struct dwm_collective dwm_count(struct dwm_library *mpi, MPI_Comm comm)
{
	struct dwm_collective collective = { 0, 0, 0 };
	struct group *group;

	pthread_mutex_lock(&state.lock);
	group = groups_get(mpi, comm);
	if (group)
		collective = (struct dwm_collective){ group->id, ++group->sequence, 0 };
	pthread_mutex_unlock(&state.lock);
	return collective;
}

uint32_t dwm_group(struct dwm_library *mpi, MPI_Comm comm)
{
	struct group *group;
	uint32_t id;

	pthread_mutex_lock(&state.lock);
	group = groups_get(mpi, comm);
	id = group ? group->id : 0;
	pthread_mutex_unlock(&state.lock);
	return id;
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* The place of a pair, or a free one. NULL: there are too many. */
static struct pair *groups_pair(uint32_t group, int from, int to)
{
	uint32_t at = (group * 0x9e3779b1u ^ (uint32_t)from * 0x85ebca6bu ^ (uint32_t)to * 0xc2b2ae35u) >> 7;

	for (uint32_t i = 0; i < 16; i++, at++) {
		struct pair *pair = &state.pairs[at % MOST_PAIRS];

		if (!pair->sequence || (pair->group == group && pair->from == from && pair->to == to))
			return pair;
	}
	return NULL;
}

static struct dwm_collective groups_count_pair(struct group *group, int from, int to)
{
	struct dwm_collective message = { group->id, 0, 0 };
	struct pair *pair = groups_pair((uint32_t)(group - state.groups), from, to);
	char name[160];

	if (!pair)
		return message;
	if (!pair->sequence) {
		*pair = (struct pair){ .group = (uint32_t)(group - state.groups), .from = from, .to = to };
		snprintf(name, sizeof name, "%d -> %d of %s", from, to, group->name);
		pair->id = dwell_intern_group(name);
	}
	return (struct dwm_collective){ pair->id, ++pair->sequence, 0 };
}

struct dwm_collective dwm_count_message(struct dwm_library *mpi, MPI_Comm comm, enum dwm_direction direction, int peer)
{
	struct dwm_collective message = { 0, 0, 0 };
	struct group *group;

	pthread_mutex_lock(&state.lock);
	group = groups_get(mpi, comm);
	if (group) {
		message.group = group->id;
		group->any |= direction == DWM_RECEIVED && peer == DW_MPI_ANY(mpi->abi);
		if (peer >= 0 && direction == DWM_SENT)
			message = groups_count_pair(group, group->rank, peer);
		else if (peer >= 0 && !group->any)
			message = groups_count_pair(group, peer, group->rank);
	}
	pthread_mutex_unlock(&state.lock);
	return message;
}

void dwm_forget(MPI_Comm comm)
{
	pthread_mutex_lock(&state.lock);
	for (uint32_t i = 0; i < state.count; i++)
		if (state.groups[i].used && state.groups[i].comm == comm)
			state.groups[i].used = false;
	pthread_mutex_unlock(&state.lock);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static uint32_t groups_request_place(uintptr_t request)
{
	return (uint32_t)(request * 0x9e3779b97f4a7c15u >> 40) % MOST_REQUESTS;
}

/* A request that finds no place is forgotten: its collective then ends with the call that started it. */
void dwm_request_add(uintptr_t request, struct dwm_collective collective)
{
	uint32_t at = groups_request_place(request);

	pthread_mutex_lock(&state.lock);
	for (uint32_t i = 0; i < 16; i++, at = (at + 1) % MOST_REQUESTS)
		if (!state.requests[at].collective.sequence || state.requests[at].request == request) {
			state.requests[at].request = request;
			state.requests[at].collective = collective;
			break;
		}
	pthread_mutex_unlock(&state.lock);
}

struct dwm_collective dwm_request_take(uintptr_t request)
{
	struct dwm_collective found = { 0, 0, 0 };
	uint32_t at = groups_request_place(request);

	pthread_mutex_lock(&state.lock);
	for (uint32_t i = 0; i < 16; i++, at = (at + 1) % MOST_REQUESTS)
		if (state.requests[at].collective.sequence && state.requests[at].request == request) {
			found = state.requests[at].collective;
			state.requests[at].collective.sequence = 0;
			break;
		}
	pthread_mutex_unlock(&state.lock);
	return found;
}

/* ---- ranks --------------------------------------------------------------------------------------- */

void dwm_report_rank(struct dwm_library *mpi)
{
	const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");

	if (!local)
		local = getenv("MPI_LOCALRANKID");
	dwell_rank(dwm_rank(mpi, mpi->world), local ? atoi(local) : -1, dwm_size(mpi, mpi->world));
}
