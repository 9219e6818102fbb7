/* Groups of ranks, and requests; see groups.h. */
#include "groups.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GROUPS 256u
#define MOST_REQUESTS 1024u
#define LISTED_RANKS 64

struct group {
	MPI_Comm comm;
	bool used;
	char name[112];
	uint64_t members; /* a hash of the ranks */
	uint64_t sequence;
	uint32_t id; /* 0: not known yet */
};

static struct {
	pthread_mutex_t lock;
	struct group groups[MOST_GROUPS];
	uint32_t count; /* places that were ever used */
	struct {
		MPI_Request request;
		struct dwm_collective collective; /* sequence 0: the place is free */
	} requests[MOST_REQUESTS];
	const void *caller;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- calls of MPI ----------------------------------------------------------------------------- */

/* An extension of Python that is linked to MPI is not in the program's own scope, nor is MPI. */
static void *groups_find_near(const char *name, const void *caller)
{
	Dl_info found;
	void *handle, *symbol;

	if (!caller || !dladdr(caller, &found) || !found.dli_fname)
		return NULL;
	handle = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	symbol = handle ? dlsym(handle, name) : NULL;
	if (handle)
		dlclose(handle);
	return symbol;
}

static void *groups_find(const char *name, const void *caller)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	return symbol ? symbol : groups_find_near(name, caller);
}

void *dwm_find(const char *name, const void *caller)
{
	void *symbol = groups_find(name, caller);

	if (!symbol) {
		fprintf(stderr, "dwell: this program's MPI has no %s: run it with dwell run --no-mpi\n", name);
		abort();
	}
	__atomic_store_n(&state.caller, caller, __ATOMIC_RELAXED);
	return symbol;
}

/* Calls PMPI_NAME. */
#define PMPI(name, ...)                                                                    \
	do {                                                                                   \
		static __typeof__(&PMPI_##name) call;                                              \
		if (!call)                                                                         \
			*(void **)&call =                                                              \
				dwm_find("PMPI_" #name, __atomic_load_n(&state.caller, __ATOMIC_RELAXED)); \
		call(__VA_ARGS__);                                                                 \
	} while (0)

int dwm_size(MPI_Comm comm)
{
	int size = 1;

	PMPI(Comm_size, comm, &size);
	return size;
}

int dwm_rank(MPI_Comm comm)
{
	int rank = 0;

	PMPI(Comm_rank, comm, &rank);
	return rank;
}

uint64_t dwm_type_bytes(MPI_Datatype type)
{
	int bytes = 0;

	PMPI(Type_size, type, &bytes);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Constants of Open MPI are addresses of variables, which this library is not linked to. A program may have
 * a copy of the variable, which is then the one that MPI uses; so the whole program is searched. */
static MPI_Comm groups_world(void)
{
#ifdef OPEN_MPI
	void *world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");

	return world ? world : groups_find_near("ompi_mpi_comm_world",
	                                        __atomic_load_n(&state.caller, __ATOMIC_RELAXED));
#else
	return MPI_COMM_WORLD;
#endif
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
static void groups_list_members(MPI_Comm comm, struct group *group)
{
	int size = dwm_size(comm), *own = malloc(2 * (size_t)size * sizeof *own), *world = own ? own + size : NULL;
	char list[LISTED_RANKS + 8] = "";
	MPI_Group members, all;
	size_t at = 0;

	if (!own)
		return;
	PMPI(Comm_group, comm, &members);
	PMPI(Comm_group, groups_world(), &all);
	for (int i = 0; i < size; i++)
		own[i] = world[i] = i;
	PMPI(Group_translate_ranks, members, size, own,
	     all, world);
	PMPI(Group_free, &members);
	PMPI(Group_free, &all);
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
static void groups_name(MPI_Comm comm, struct group *group)
{
	unsigned earlier = 0;

	group->members = 0xcbf29ce484222325u;
	if (comm == groups_world()) {
		snprintf(group->name, sizeof group->name, "MPI_COMM_WORLD");
		return;
	}
	groups_list_members(comm, group);
	for (uint32_t i = 0; i < state.count; i++)
		earlier += &state.groups[i] != group && state.groups[i].members == group->members;
	if (earlier)
		snprintf(group->name + strlen(group->name), sizeof group->name - strlen(group->name), " #%u",
		         earlier + 1);
}

/* Needs the lock. NULL: there are too many. */
static struct group *groups_get(MPI_Comm comm)
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
		groups_name(comm, group);
	}
	if (!group->id)
		group->id = dwell_intern_group(group->name);
	return group;
}

struct dwm_collective dwm_count(MPI_Comm comm)
{
	struct dwm_collective collective = { 0, 0, 0 };
	struct group *group;

	pthread_mutex_lock(&state.lock);
	group = groups_get(comm);
	if (group)
		collective = (struct dwm_collective){ group->id, ++group->sequence, 0 };
	pthread_mutex_unlock(&state.lock);
	return collective;
}

uint32_t dwm_group(MPI_Comm comm)
{
	struct group *group;
	uint32_t id;

	pthread_mutex_lock(&state.lock);
	group = groups_get(comm);
	id = group ? group->id : 0;
	pthread_mutex_unlock(&state.lock);
	return id;
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

static uint32_t groups_request_place(MPI_Request request)
{
	return (uint32_t)((uintptr_t)request * 0x9e3779b97f4a7c15u >> 40) % MOST_REQUESTS;
}

/* A request that finds no place is forgotten: its collective then ends with the call that started it. */
void dwm_request_add(MPI_Request request, struct dwm_collective collective)
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

struct dwm_collective dwm_request_take(MPI_Request request)
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

void dwm_report_rank(void)
{
	MPI_Comm world = groups_world();
	const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");

	if (!local)
		local = getenv("MPI_LOCALRANKID");
	dwell_rank(dwm_rank(world), local ? atoi(local) : -1, dwm_size(world));
}
