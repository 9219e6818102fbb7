/*
 * A program with ITT, for itt_test.py: plays the static part of ittnotify, two copies of it, with the
 * functions' real numbers and signatures, and announces everything that the collector records.
 *
 *     itt_program WHAT        see main()
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct id { unsigned long long d1, d2, d3; };
struct domain { int flags; const char *name; void *wide; int extra1; void *extra2; struct domain *next; };
struct string { const char *text; void *wide; int extra1; void *extra2; struct string *next; };
struct function { const char *name; void **place; void *init, *null; int group; };

#define FUNCTIONS(X)                                                                            \
	X(struct domain *, domain_create, (const char *))                                           \
	X(struct string *, string_handle_create, (const char *))                                    \
	X(void, task_begin, (const struct domain *, struct id, struct id, struct string *))         \
	X(void, task_end, (const struct domain *))                                                  \
	X(void, task_begin_overlapped, (const struct domain *, struct id, struct id, struct string *)) \
	X(void, task_end_overlapped, (const struct domain *, struct id))                            \
	X(void, frame_begin_v3, (const struct domain *, struct id *))                               \
	X(void, frame_end_v3, (const struct domain *, struct id *))                                 \
	X(void, frame_submit_v3, (const struct domain *, struct id *, unsigned long long, unsigned long long)) \
	X(unsigned long long, get_timestamp, (void))                                                \
	X(void, relation_add_to_current, (const struct domain *, int, struct id))                   \
	X(void, metadata_add, (const struct domain *, struct id, struct string *, int, size_t, void *)) \
	X(void, metadata_str_add, (const struct domain *, struct id, struct string *, const char *, size_t)) \
	X(void, formatted_metadata_add, (const struct domain *, struct string *, ...))              \
	X(void *, counter_create, (const char *, const char *))                                     \
	X(void *, counter_create_typed, (const char *, const char *, int))                          \
	X(void, counter_inc_delta, (void *, unsigned long long))                                    \
	X(void, counter_dec, (void *))                                                              \
	X(void, counter_set_value, (void *, void *))                                                \
	X(void, counter_inc_v3, (const struct domain *, struct string *))                           \
	X(void, marker, (const struct domain *, struct id, struct string *, int))                   \
	X(int, event_create, (const char *, int))                                                   \
	X(int, event_start, (int))                                                                  \
	X(int, event_end, (int))                                                                    \
	X(void, thread_set_name, (const char *))                                                    \
	X(void, pause, (void))                                                                      \
	X(void, resume, (void))                                                                     \
	X(const char *, api_version, (void))

/* One copy of the static part: its functions and its table of them. */
#define MEMBER(result, name, arguments) result (*name) arguments;
struct itt { FUNCTIONS(MEMBER) };

struct global {
	unsigned char magic[8];
	unsigned long version_major, version_minor, version_build;
	long api_initialized, mutex_initialized, atomic_counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct function *functions;
	char later[72];
};

static const struct id none;

static int load(struct itt *itt)
{
#define ENTRY(result, function, arguments) { "__itt_" #function, (void **)&itt->function, NULL, NULL, 0 },
	struct function table[] = { FUNCTIONS(ENTRY) { NULL, NULL, NULL, NULL, 0 } };
	struct global global = { .magic = { 0xed, 0xab, 0xab, 0xec }, .version_build = 20180723 };
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	void (*init)(struct global *, int) = NULL;

	if (library)
		*(void **)&init = dlsym(library, "__itt_api_init");
	if (!init) {
		puts("no collector");
		return 0;
	}
	global.functions = table;
	init(&global, -1);
#define CHECK(result, function, arguments) \
	if (!itt->function)                    \
		printf("not implemented: " #function "\n");
	FUNCTIONS(CHECK)
	return 1;
}

static void rest(void)
{
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
}

static void nested(struct itt *a, struct itt *b)
{
	struct domain early = { 1, "made early", NULL, 0, NULL, NULL };
	struct string task = { "early task", NULL, 0, NULL, NULL };
	struct domain *one = a->domain_create("one"), *two = b->domain_create("two");
	struct string *outer = a->string_handle_create("outer"), *inner = b->string_handle_create("inner");

	if (one != a->domain_create("one") || outer != a->string_handle_create("outer"))
		puts("a handle is not the same");
	for (int i = 0; i < 10; i++) {
		a->task_begin(one, none, none, outer);
		rest();
		b->task_begin(two, none, none, inner);
		a->task_begin(one, none, none, outer); /* ends before the task of the other domain */
		rest();
		a->task_end(one);
		b->task_end(two);
		a->task_end(one);
	}
	/* Crossed: the first domain's task ends first. */
	a->task_begin(one, none, none, a->string_handle_create("crossed one"));
	b->task_begin(two, none, none, b->string_handle_create("crossed two"));
	rest();
	a->task_end(one);
	rest();
	b->task_end(two);
	a->task_begin(&early, none, none, &task);
	a->task_end(&early);
	a->task_begin(one, none, none, NULL);
	a->task_end(one);
}

static void *end_elsewhere(void *argument)
{
	struct itt *a = argument;

	a->task_end_overlapped(a->domain_create("one"), (struct id){ 7, 0, 0 });
	a->task_end(a->domain_create("one")); /* began in another thread: ignored */
	a->thread_set_name("the ender");
	a->task_begin(a->domain_create("one"), none, none, a->string_handle_create("in thread"));
	a->task_end(a->domain_create("one"));
	return NULL;
}

static void overlapped(struct itt *a)
{
	struct domain *one = a->domain_create("one");
	pthread_t thread;

	a->task_begin_overlapped(one, (struct id){ 7, 0, 0 }, none, a->string_handle_create("over 7"));
	a->task_begin_overlapped(one, (struct id){ 8, 0, 0 }, none, a->string_handle_create("over 8"));
	rest();
	a->task_begin(one, none, none, a->string_handle_create("stays open"));
	pthread_create(&thread, NULL, end_elsewhere, a);
	pthread_join(thread, NULL);
	a->task_end(one);
	a->task_end_overlapped(one, (struct id){ 8, 0, 0 });
	a->task_end_overlapped(one, (struct id){ 9, 0, 0 }); /* never began */
}

static void frames(struct itt *a)
{
	struct domain *steps = a->domain_create("trainer.step"), *other = a->domain_create("video");
	unsigned long long moment;

	for (int i = 0; i < 5; i++) {
		a->frame_begin_v3(steps, NULL);
		a->frame_begin_v3(other, &(struct id){ (unsigned)i, 0, 0 });
		rest();
		a->frame_end_v3(other, &(struct id){ (unsigned)i, 0, 0 });
		a->frame_end_v3(steps, NULL);
	}
	moment = a->get_timestamp();
	rest();
	a->frame_submit_v3(steps, NULL, moment, a->get_timestamp());
}

static void values(struct itt *a)
{
	struct domain *one = a->domain_create("one");
	void *count = a->counter_create("count", "one"), *rate = a->counter_create_typed("rate", "one", 8);
	struct string *key = a->string_handle_create("sizes"), *plain = a->string_handle_create("numbers");
	uint64_t numbers[3] = { 1, 2, 3 };
	int event = a->event_create("old event", 9);
	double value = 2.5;

	a->counter_inc_delta(count, 5);
	a->counter_dec(count);
	a->counter_set_value(rate, &value);
	a->counter_inc_v3(one, a->string_handle_create("calls"));
	a->marker(one, none, a->string_handle_create("now"), 1);
	a->event_start(event);
	a->event_end(event);
	a->task_begin(one, (struct id){ 1, 2, 3 }, none, a->string_handle_create("first"));
	a->metadata_add(one, none, key, 1, 3, numbers);
	a->metadata_str_add(one, (struct id){ 1, 2, 3 }, a->string_handle_create("kind"), "a \"b\"\xff", 0);
	a->formatted_metadata_add(one, a->string_handle_create("%s has %d"), "it", 4);
	a->task_end(one);
	a->task_begin(one, (struct id){ 4, 5, 6 }, none, a->string_handle_create("second"));
	a->relation_add_to_current(one, 1, (struct id){ 1, 2, 3 });
	a->metadata_add(one, none, plain, 8, 1, &value);
	a->task_end(one);
	a->pause();
	a->task_begin(one, none, none, a->string_handle_create("paused"));
	a->resume();
	a->task_begin(one, none, none, a->string_handle_create("resumed"));
	a->task_end(one);
	a->task_end(one);
}

static void wrong(struct itt *a)
{
	struct domain *one = a->domain_create("one");
	char *large = malloc(100001);

	for (int i = 0; i < 3; i++)
		a->task_end(one); /* nothing began */
	memset(large, 'x', 100000);
	large[100000] = '\0';
	a->task_begin(one, none, none, a->string_handle_create(large));
	a->metadata_str_add(one, none, a->string_handle_create("large"), large, 100000);
	a->task_end(one);
	a->task_begin(one, none, none, a->string_handle_create("bad \xff\xfe\xc3 bytes"));
	a->task_end(one);
	a->domain_create(large);
	a->thread_set_name("\xff");
	for (int i = 0; i < 1000; i++)
		a->task_begin(one, none, none, a->string_handle_create("deep"));
	for (int i = 0; i < 1000; i++)
		a->task_end(one);
	a->task_begin(one, none, none, a->string_handle_create("after"));
	a->task_end(one);
	/* Fork inside a task: both processes end it. */
	a->task_begin(one, none, none, a->string_handle_create("forks"));
	pid_t child = fork();
	a->task_begin(one, none, none, a->string_handle_create(child ? "parent" : "child"));
	rest();
	a->task_end(one);
	a->task_end(one);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	free(large);
}

static void *many(void *argument)
{
	struct itt *a = argument;
	struct domain *one = a->domain_create("many");

	for (int i = 0; i < 20000; i++) {
		char name[32];

		snprintf(name, sizeof name, "task %d", i % 50);
		a->task_begin(one, none, none, a->string_handle_create(name));
		a->task_begin_overlapped(one, (struct id){ (unsigned)i, (uintptr_t)&name, 0 }, none,
		                         a->string_handle_create("overlapped"));
		a->task_end_overlapped(one, (struct id){ (unsigned)i, (uintptr_t)&name, 0 });
		a->task_end(one);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	static struct itt a, b;
	pthread_t threads[4];

	if (!load(&a) || !load(&b))
		return 0;
	if (strcmp(what, "nested") == 0)
		nested(&a, &b);
	else if (strcmp(what, "overlapped") == 0)
		overlapped(&a);
	else if (strcmp(what, "frames") == 0)
		frames(&a);
	else if (strcmp(what, "values") == 0)
		values(&a);
	else if (strcmp(what, "wrong") == 0)
		wrong(&a);
	else if (strcmp(what, "many") == 0) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, many, i % 2 ? &a : &b);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
