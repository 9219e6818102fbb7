/*
 * Wrong arguments of the functions of <dwell/trace.h>, <dwell/dwell.h> and <dwell/probe.h>: NULL, numbers out of
 * range, calls in the wrong state. Each call is made in a process of its own, which must end by itself; what can fail
 * says that an argument is not valid, and which.
 */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "dwell/probe.h"
#include "dwell/trace.h"

static char folder[64], path[96];
static struct dwell_trace *trace;
static struct dwell_table *table;

/* Records a short trace and opens it; a second session records while the calls are made. */
static bool begin(void)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	const char *paths[] = { path };

	if (trace)
		return true;
	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(folder))
		return false;
	snprintf(path, sizeof path, "%s/t.dwell", folder);
	options.path = path;
	options.overwrite = true;
	if (dwell_start(&options, NULL))
		return false;
	{
		DWELL_ZONE("zone");
		DWELL_OP("operator");
	}
	return dwell_trace_open(&trace, paths, 1, NULL, NULL) == 0 && dwell_trace_view(trace, "calls", NULL, &table, NULL) == 0;
}

static void end(void)
{
	dwell_table_destroy(table);
	dwell_trace_close(trace);
	trace = NULL;
	dwell_stop(NULL);
	unlink(path);
	rmdir(folder);
}

static struct dwell_error error;
static const char *const no_path[] = { NULL };

/* X(call): its result is an error, DWELL_E_ARGUMENT. */
#define REFUSED(X)                                                                                     \
	X(dwell_trace_open(NULL, (const char *[]){ path }, 1, NULL, &error))                               \
	X(dwell_trace_open(&(struct dwell_trace *){ NULL }, NULL, 1, NULL, &error))                        \
	X(dwell_trace_open(&(struct dwell_trace *){ NULL }, no_path, 1, NULL, &error))                     \
	X(dwell_trace_open(&(struct dwell_trace *){ NULL }, no_path, 0, NULL, &error))                     \
	X(dwell_trace_open_result(NULL, &(struct dwell_profile_result){ path, 1, 0, 0 }, &error))          \
	X(dwell_trace_open_result(&(struct dwell_trace *){ NULL }, NULL, &error))                          \
	X(dwell_trace_open_result(&(struct dwell_trace *){ NULL }, &(struct dwell_profile_result){ 0 }, &error)) \
	X(dwell_trace_view(NULL, "calls", NULL, &(struct dwell_table *){ NULL }, &error))                  \
	X(dwell_trace_view(trace, NULL, NULL, &(struct dwell_table *){ NULL }, &error))                    \
	X(dwell_trace_view(trace, "calls", NULL, NULL, &error))                                            \
	X(dwell_trace_summary(NULL, "json", stderr, &error))                                               \
	X(dwell_trace_summary(trace, NULL, stderr, &error))                                                \
	X(dwell_trace_summary(trace, "json", NULL, &error))                                                \
	X(dwell_table_print(NULL, 1, stderr, NULL, &error))                                                \
	X(dwell_table_print((const struct dwell_table *[]){ NULL }, 1, stderr, NULL, &error))              \
	X(dwell_table_print((const struct dwell_table *[]){ table }, 1, NULL, NULL, &error))               \
	X(dwell_trace_layout(NULL, "torch", NULL, stderr, &error))                                         \
	X(dwell_trace_layout(trace, NULL, NULL, stderr, &error))                                           \
	X(dwell_trace_layout(trace, "torch", NULL, NULL, &error))                                          \
	X(dwell_trace_export(NULL, "chrome", "-", NULL, &error))                                           \
	X(dwell_trace_export(trace, NULL, "-", NULL, &error))                                              \
	X(dwell_trace_query(NULL, "select 1", 0, &(struct dwell_table *){ NULL }, &error))                 \
	X(dwell_trace_query(trace, NULL, 0, &(struct dwell_table *){ NULL }, &error))                      \
	X(dwell_trace_query(trace, "select 1", 0, NULL, &error))                                           \
	X(dwell_table_columns(NULL, &(struct ArrowSchema){ 0 }, &(struct ArrowArray){ 0 }, &error))        \
	X(dwell_table_columns(table, NULL, &(struct ArrowArray){ 0 }, &error))                             \
	X(dwell_table_columns(table, &(struct ArrowSchema){ 0 }, NULL, &error))                            \
	X(dwell_trace_columns(NULL, NULL, false, NULL, NULL, &error))                                             \
	X(dwell_trace_columns(trace, NULL, false, NULL, NULL, &error))                                            \
	X(dwell_trace_events(NULL, NULL, NULL, &error))                                                    \
	X(dwell_trace_events(trace, NULL, NULL, &error))                                                   \
	X(dwell_profile_start(NULL, &error))                                                               \
	X(dwell_profile_step(NULL, &error))                                                                \
	X(dwell_profile_stop(NULL, &error))                                                                \
	X(dwell_profile_result(NULL, &(struct dwell_profile_result){ 0 }, &error))                         \
	X(dwell_schedule_check(&(struct dwell_schedule){ .active = UINT32_MAX }, &error))                  \
	X(dwell_serve_start(UINT32_MAX, &error))

/* X(call): it has no result that is an error, or an error of another kind is right. */
#define SURVIVED(X)                                                                                    \
	X(dwell_trace_close(NULL))                                                                         \
	X(dwell_table_destroy(NULL))                                                                       \
	X(dwell_trace_repair(NULL, 0))                                                                     \
	X(dwell_trace_repair(trace, SIZE_MAX))                                                             \
	X(dwell_view_name(SIZE_MAX, NULL))                                                                 \
	X(dwell_layout_name(SIZE_MAX, NULL))                                                               \
	X(dwell_export_name(SIZE_MAX, NULL))                                                               \
	X(dwell_trace_view(trace, "", &(struct dwell_view_options){ .size = SIZE_MAX }, &(struct dwell_table *){ NULL }, NULL)) \
	X(dwell_table_print(NULL, 0, stderr, NULL, NULL))                                                  \
	X(dwell_table_print((const struct dwell_table *[]){ table }, 1, stderr, &(struct dwell_print_options){ .size = sizeof(struct dwell_print_options), .width = UINT32_MAX }, NULL)) \
	X(dwell_profile_destroy(NULL))                                                                     \
	X(dwell_profile_step_num(NULL))                                                                    \
	X(dwell_profile_action(NULL))                                                                      \
	X(dwell_profile_id(NULL))                                                                          \
	X(dwell_profile_warning(NULL))                                                                     \
	X(dwell_profile_result(dwell_profile_create(NULL, NULL), NULL, NULL))                              \
	X(dwell_schedule_action(NULL, UINT64_MAX))                                                         \
	X(dwell_schedule_check(NULL, NULL))                                                                \
	X(dwell_start(NULL, NULL))                                                                         \
	X(dwell_stop(NULL); dwell_stop(NULL))                                                              \
	X(dwell_layers_only(NULL, NULL))                                                                   \
	X(dwell_error_text(INT32_MIN))                                                                     \
	X(dwell_meta(NULL, NULL))                                                                          \
	X(dwell_meta("key", NULL))                                                                         \
	X(dwell_meta_json(NULL, NULL))                                                                     \
	X(dwell_meta_json("key", NULL))                                                                    \
	X(dwell_thread_name(NULL))                                                                         \
	X(dwell_thread_number(NULL, INT32_MIN))                                                            \
	X(dwell_rank(INT32_MIN, INT32_MAX, INT32_MIN))                                                     \
	X(dwell_step_end(); dwell_step_end())                                                              \
	X(dwell_intern((enum dwell_category)99, NULL, NULL))                                               \
	X(dwell_intern(DWELL_CATEGORY_ZONE, NULL, "detail"))                                               \
	X(dwell_intern_op(NULL, NULL, NULL, 0))                                                            \
	X(dwell_intern_op("name", NULL, NULL, UINT32_MAX))                                                 \
	X(dwell_intern_layer(NULL, NULL, NULL, 0))                                                         \
	X(dwell_intern_layer("path", NULL, NULL, UINT32_MAX))                                              \
	X(dwell_end_id(dwell_begin_id(UINT32_MAX, DWELL_CATEGORY_ZONE)))                                   \
	X(dwell_end_id(dwell_begin_id(0, (enum dwell_category)31)))                                        \
	X(dwell_end_id(dwell_begin_named(UINT32_MAX, DWELL_CATEGORY_ZONE)))                                \
	X(dwell_end_id(UINT32_MAX))                                                                        \
	X(dwell_end_named(UINT32_MAX))                                                                     \
	X(dwell_end(DWELL_BEGUN); dwell_end(DWELL_BEGUN))                                                  \
	X(dwell_end_of(UINT32_MAX))

/* What the process in which a call was made ended with. */
static void check_ended(pid_t child, const char *call)
{
	int status = 0;

	if (waitpid(child, &status, 0) != child)
		CHECK_FAIL("%s: no process", call);
	else if (WIFSIGNALED(status))
		CHECK_FAIL("%s: ended by signal %d", call, WTERMSIG(status));
	else if (status)
		CHECK_FAIL("%s: is not refused with a sentence", call);
}

static pid_t apart(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		alarm(20);
	}
	return child;
}

static void expect_refusal(int result)
{
	if (result != DWELL_E_ARGUMENT || error.code != result || strlen(error.message) < 10)
		_exit(1);
}

TEST(arguments_that_are_not_valid_are_refused_with_a_sentence)
{
	pid_t child;

	REQUIRE(begin());
#define REFUSED_CALL(call)      \
	child = apart();            \
	if (child == 0) {           \
		expect_refusal(call);   \
		_exit(0);               \
	}                           \
	check_ended(child, #call);
	REFUSED(REFUSED_CALL)
	end();
}

TEST(no_argument_ends_the_process)
{
	pid_t child;

	REQUIRE(begin());
#define SURVIVED_CALL(call)     \
	child = apart();            \
	if (child == 0) {           \
		call;                   \
		_exit(0);               \
	}                           \
	check_ended(child, #call);
	SURVIVED(SURVIVED_CALL)
	end();
}

CHECK_MAIN
