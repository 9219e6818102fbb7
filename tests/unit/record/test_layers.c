/* Which layers are recorded: by site, by id, changed while running, in child processes. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

#include "session.h"

static struct dwell_site stem = { "Net.stem", NULL, __FILE__, 1, DWELL_CATEGORY_LAYER, 0 };
static struct dwell_site head = { "Net.head", NULL, __FILE__, 2, DWELL_CATEGORY_LAYER, 0 };
static struct dwell_site zone = { "zone", NULL, __FILE__, 3, DWELL_CATEGORY_ZONE, 0 };

static bool site_begins(struct dwell_site *site)
{
	unsigned began = dwell_begin(site);

	dwell_end(began);
	return began;
}

static bool id_begins(uint32_t id)
{
	unsigned began = dwell_begin_id(id, DWELL_CATEGORY_LAYER);

	dwell_end_id(began);
	return began;
}

static int only(const char *list)
{
	struct dwell_error error = { 0, "" };

	return dwell_layers_only(list, &error);
}

TEST(a_list_holds_for_sites_and_ids_at_once)
{
	REQUIRE(session_begin(0));
	uint32_t id = dwell_intern(DWELL_CATEGORY_LAYER, "Net.block.0.conv", NULL);

	CHECK(site_begins(&stem) && site_begins(&head) && id_begins(id)); /* ids are cached now */
	CHECK_EQ(only("Net.stem"), 0);
	CHECK(site_begins(&stem) && !site_begins(&head) && !id_begins(id));
	CHECK(site_begins(&zone)); /* it is about layers alone */
	CHECK_EQ(only("Net.block.*, Net.h?ad"), 0);
	CHECK(!site_begins(&stem) && site_begins(&head) && id_begins(id));
	CHECK(!id_begins(dwell_intern(DWELL_CATEGORY_LAYER, "Net.tail", NULL)));
	CHECK_EQ(only(NULL), 0);
	CHECK(site_begins(&stem) && site_begins(&head) && id_begins(id));
	session_end();
	CHECK_EQ(only("Net.stem"), DWELL_E_STATE);
}

TEST(a_new_session_has_a_list_of_its_own)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0, "" };

	REQUIRE(session_begin(0));
	CHECK_EQ(only("Net.head"), 0);
	CHECK(!site_begins(&stem) && site_begins(&head));
	session_end();
	REQUIRE(session_begin(0));
	CHECK(site_begins(&stem) && site_begins(&head));
	session_end();
	snprintf(session_path, sizeof session_path, "/tmp/dwell-unit-layers-%d.dwell", (int)getpid());
	options.path = session_path;
	options.layers = "*.stem"; /* the same generation as the list before had */
	REQUIRE(dwell_start(&options, &error) == 0);
	CHECK(site_begins(&stem) && !site_begins(&head));
	session_end();
}

TEST(a_bad_list_changes_nothing)
{
	struct dwell_error error = { 0, "" };
	char much[4096];

	memset(much, 'x', sizeof much - 1);
	much[sizeof much - 1] = '\0';
	REQUIRE(session_begin(0));
	CHECK_EQ(only("Net.head"), 0);
	CHECK_EQ(dwell_layers_only(" , ,", &error), DWELL_E_ARGUMENT);
	CHECK(strstr(error.message, "names none"));
	CHECK_EQ(dwell_layers_only(much, &error), DWELL_E_ARGUMENT);
	CHECK(strstr(error.message, "4095 bytes"));
	CHECK(!site_begins(&stem) && site_begins(&head));
	session_end();
}

TEST(children_follow_a_list_set_after_the_fork)
{
	int told[2], tells[2], status;
	char byte = 0;

	REQUIRE(session_begin(0) && pipe(told) == 0 && pipe(tells) == 0);
	CHECK_EQ(only("Net.head"), 0);
	CHECK(!site_begins(&stem));
	pid_t child = fork();
	if (child == 0) {
		int wrong = site_begins(&stem) || !site_begins(&head);

		wrong |= write(tells[1], "1", 1) != 1 || read(told[0], &byte, 1) != 1;
		wrong |= !site_begins(&stem) || site_begins(&head);
		_exit(wrong);
	}
	CHECK_EQ(read(tells[0], &byte, 1), 1);
	CHECK_EQ(only("Net.stem"), 0);
	CHECK_EQ(write(told[1], "1", 1), 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	session_end();
}

static bool stop;

static void *use_layers(void *context)
{
	uint64_t *begun = context;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		*begun += site_begins(&stem) + site_begins(&head);
	return NULL;
}

TEST(a_list_may_change_under_many_calls)
{
	uint64_t begun[3] = { 0 };
	pthread_t threads[3];

	REQUIRE(session_begin(0));
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, use_layers, &begun[i]);
	for (int i = 0; i < 2000; i++)
		CHECK_EQ(only(i & 1 ? "Net.stem" : "Net.h*,Net.other"), 0);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK(site_begins(&stem) && !site_begins(&head));
	session_end();
}

CHECK_MAIN
