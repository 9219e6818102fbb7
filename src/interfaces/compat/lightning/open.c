/*
 * The actions that each thread has open, by name.
 *
 * Each thread has a list, which only this thread adds to. The lock of the list is needed because
 * dwell_lightning_teardown() may run in another thread; it reports an action that is still open.
 * Names are compared by hash and length. The text of a name is only for messages and may be cut.
 *
 * Invariant: the recorded entries of a list are open ranges of its thread, in the order in which
 * they began.
 */
#include "compat/lightning/lightning.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct open_action {
	const struct dwell_lightning_profiler *actions;
	uint64_t hash;
	size_t length;
	unsigned began;
	uint32_t id;
	bool closed; /* its stage has ended; stopping it later is no error */
	char name[91];
};

struct thread {
	pthread_mutex_t lock;
	struct open_action *open;
	size_t count, capacity;
	struct thread *next;
};

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads;
static __thread struct thread *this_thread;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- a thread's list ------------------------------------------------------------------- */

static uint64_t open_hash_name(const char *name, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	return hash;
}

static struct open_action *open_push(struct thread *thread)
{
	if (thread->count == thread->capacity) {
		size_t capacity = thread->capacity ? thread->capacity * 2 : 16;
		struct open_action *open = realloc(thread->open, capacity * sizeof *open);

		if (!open)
			return NULL;
		thread->open = open;
		thread->capacity = capacity;
	}
	return &thread->open[thread->count++];
}

/* Copies the beginning of the name. snprintf() would take half of the time of an action, so it is
 * not used. */
static void open_copy_name(struct open_action *open, const char *name)
{
	size_t length = open->length < sizeof open->name ? open->length : sizeof open->name - 1;

	memcpy(open->name, name, length);
	open->name[length] = '\0';
}

/* Ends the range of entry `at` by its name, because later ranges may be open in it. */
static void open_end_range(struct thread *thread, size_t at)
{
	if (thread->open[at].began)
		dwell_end_named(thread->open[at].id);
	thread->open[at].began = DWELL_NOT_BEGUN;
}

/* Removes entry `at` and ends its range. */
static void open_close_at(struct thread *thread, size_t at)
{
	open_end_range(thread, at);
	memmove(&thread->open[at], &thread->open[at + 1], (thread->count - at - 1) * sizeof *thread->open);
	thread->count--;
}

static void open_forget_thread(void *pointer)
{
	struct thread *thread = pointer, **at;

	pthread_mutex_lock(&threads_lock);
	for (at = &threads; *at != thread; at = &(*at)->next)
		;
	*at = thread->next;
	pthread_mutex_unlock(&threads_lock);
	this_thread = NULL;
	while (thread->count)
		open_close_at(thread, thread->count - 1);
	pthread_mutex_destroy(&thread->lock);
	free(thread->open);
	free(thread);
}

static void open_make_key(void)
{
	pthread_key_create(&key, open_forget_thread);
}

static struct thread *open_thread(void)
{
	struct thread *thread = this_thread;

	if (thread)
		return thread;
	pthread_once(&once, open_make_key);
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	pthread_mutex_init(&thread->lock, NULL);
	pthread_setspecific(key, thread);
	pthread_mutex_lock(&threads_lock);
	thread->next = threads;
	threads = thread;
	pthread_mutex_unlock(&threads_lock);
	return this_thread = thread;
}

/* ---- start and stop --------------------------------------------------------------------- */

void dwell_lightning_start(struct dwell_lightning_profiler *actions, const char *action)
{
	const uint32_t mask = 1u << DWELL_CATEGORY_ACTION;
	struct thread *thread = actions ? open_thread() : NULL;
	struct open_action *open;

	if (!thread)
		return;
	if (actions->methods->start)
		actions->methods->start(actions, action);
	pthread_mutex_lock(&thread->lock);
	open = open_push(thread);
	if (open) {
		open->actions = actions;
		open->length = strlen(action);
		open->hash = open_hash_name(action, open->length);
		open->began = DWELL_NOT_BEGUN;
		open->closed = false;
		open_copy_name(open, action);
		if (actions->records && dwell_wants(mask)) {
			open->id = dwell_intern(DWELL_CATEGORY_ACTION, action, NULL);
			open->began = dwell_begin_named(open->id, DWELL_CATEGORY_ACTION);
		}
	}
	pthread_mutex_unlock(&thread->lock);
}

int dwell_lightning_stop(struct dwell_lightning_profiler *actions, const char *action, struct dwell_error *error)
{
	struct thread *thread = actions ? open_thread() : NULL;
	size_t length = strlen(action), at;
	uint64_t hash = open_hash_name(action, length);
	bool closed = false;

	if (!actions)
		return 0;
	if (!thread)
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for a thread's actions");
	pthread_mutex_lock(&thread->lock);
	for (at = thread->count; at > 0; at--) {
		const struct open_action *open = &thread->open[at - 1];

		if (open->actions == actions && open->hash == hash && open->length == length)
			break;
	}
	if (at) {
		closed = thread->open[at - 1].closed;
		open_close_at(thread, at - 1);
	}
	pthread_mutex_unlock(&thread->lock);
	if (!at)
		return dw_error_set(error, DWELL_E_STATE, "Attempting to stop recording an action (%.300s) which was never "
		                    "started.", action);
	if (!closed && actions->methods->stop)
		actions->methods->stop(actions, action);
	return 0;
}

/* ---- the end of a stage -------------------------------------------------------------------- */

/*
 * Marks the open actions as closed. They stay in the list, because a stop may still come. A
 * thread ends its own ranges only: a range of another thread goes on until that thread stops
 * the action or ends.
 */
static bool open_close_of(struct thread *thread, const struct dwell_lightning_profiler *actions, char *name,
                             size_t room)
{
	bool any = false;

	pthread_mutex_lock(&thread->lock);
	for (size_t at = thread->count; at > 0; at--) {
		struct open_action *open = &thread->open[at - 1];

		if (open->actions != actions || open->closed)
			continue;
		snprintf(name, room, "%s", open->name);
		any = open->closed = true;
		if (thread == this_thread)
			open_end_range(thread, at - 1);
	}
	pthread_mutex_unlock(&thread->lock);
	return any;
}

bool dw_lightning_close_open(const struct dwell_lightning_profiler *actions, char *name, size_t room)
{
	bool any = false;

	pthread_mutex_lock(&threads_lock);
	for (struct thread *thread = threads; thread; thread = thread->next)
		any |= open_close_of(thread, actions, name, room);
	pthread_mutex_unlock(&threads_lock);
	return any;
}

/* Removes the entries of the profiler. An entry whose range another thread must end remains in that
 * thread's list, without a profiler. */
static void open_forget_of(struct thread *thread, const struct dwell_lightning_profiler *actions)
{
	pthread_mutex_lock(&thread->lock);
	for (size_t at = thread->count; at > 0; at--) {
		if (thread->open[at - 1].actions != actions)
			continue;
		thread->open[at - 1].actions = NULL;
		if (!thread->open[at - 1].began || thread == this_thread)
			open_close_at(thread, at - 1);
	}
	pthread_mutex_unlock(&thread->lock);
}

void dw_lightning_forget_open(const struct dwell_lightning_profiler *actions)
{
	pthread_mutex_lock(&threads_lock);
	for (struct thread *thread = threads; thread; thread = thread->next)
		open_forget_of(thread, actions);
	pthread_mutex_unlock(&threads_lock);
}
