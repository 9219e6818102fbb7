/* A product that asks for what its line in products.def does not list: the process ends, and says which line to write. */
#include "made.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/core/product.h"

static char said[1000];

static bool product_asks_for_steps(struct dw_model *model, const void *request, void *result)
{
	(void)request, (void)result;
	return dw_product_get(model, &dw_product_steps, 0, NULL, NULL) != NULL;
}

static bool product_asks_for_nothing(struct dw_model *model, const void *request, void *result)
{
	(void)model, (void)request, (void)result;
	return true;
}

/* Requests a product in a process of its own. Returns how it ended; `said` is what it wrote to stderr. */
static int request(const struct dw_product *product)
{
	struct made made;
	ssize_t length;
	int ends[2], status = 0;
	pid_t child;

	said[0] = '\0';
	if (pipe(ends) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		dup2(ends[1], STDERR_FILENO);
		made_init(&made);
		_exit(made_open(&made, NULL) == 0 && dw_product_get(made.model, product, 0, NULL, NULL) ? 0 : 1);
	}
	close(ends[1]);
	for (size_t used = 0; (length = read(ends[0], said + used, sizeof said - 1 - used)) > 0; used += (size_t)length)
		said[used + (size_t)length] = '\0';
	close(ends[0]);
	waitpid(child, &status, 0);
	return status;
}

TEST(a_request_that_no_line_allows_names_the_file_and_the_line)
{
	const struct dw_product flat = { 8, product_asks_for_steps, NULL, "flat", false };

#ifndef NDEBUG
	CHECK(WIFSIGNALED(request(&flat)));
	CHECK_HAS(said, "flat requests steps, which its line in src/model/core/products.def does not list.");
	CHECK_HAS(said, "PRODUCT(flat, 0, \"profile steps\", ");
#else
	(void)flat, (void)request;
#endif
}

TEST(a_product_without_a_line_is_told_which)
{
	const struct dw_product new = { 8, product_asks_for_nothing, NULL, "new", false };

#ifndef NDEBUG
	CHECK(WIFSIGNALED(request(&new)));
	CHECK_HAS(said, "new has no line in src/model/core/products.def.");
	CHECK_HAS(said, "PRODUCT(new, 0, \"\", \"what it says\")");
#else
	(void)new;
#endif
}

TEST(a_product_of_another_module_may_ask_for_any)
{
	const struct dw_product of_facts = { 8, product_asks_for_steps, NULL, NULL, false };

	CHECK_EQ(request(&of_facts), 0);
	CHECK_STR(said, "");
}

CHECK_MAIN
