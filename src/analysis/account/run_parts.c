/* The parts of a run for people: what was done before the loop and after it, in words; see account.h. */
#include <stdio.h>

#include "account/account.h"
#include "base/order.h"

#define DOES(name) DW_ACTIVITY_SET(name)
#define BUSY (1u << DW_ACCOUNT_RUNS | 1u << DW_ACCOUNT_OTHERS | 1u << DW_ACCOUNT_WAITS)

/* Each cell is in one of them. */
static const struct {
	uint32_t states;
	dw_activity_set activities;
	const char *words;
} groups[] = {
	{ BUSY, DOES(IMPORTS), "importing" },
	{ BUSY, DOES(COMPILES), "compiling" },
	{ BUSY, DOES(STARTS), "loading libraries" },
	{ BUSY, DW_ACTIVITIES_OF_FILES, "reading and writing files" },
	{ BUSY, DOES(SOCKET), "waiting for answers" },
	{ BUSY, DW_ACTIVITIES_OF_THREADS, "waiting for threads" },
	{ BUSY, DOES(BEGINS), "beginning threads" },
	{ BUSY, DOES(CHILD), "waiting for child processes" },
	{ BUSY, DOES(SLEEP), "sleeping" },
	{ BUSY, DW_ACTIVITIES_OF_MEMORY | DW_ACTIVITIES_OF_COPIES | DOES(RETURNS) | DOES(FAULT),
	  "getting and copying memory" },
	{ BUSY, DOES(TEXT) | DOES(LOGS), "making and reading text" },
	{ BUSY, DOES(ALGEBRA), "algebra" },
	{ BUSY, DOES(DEVICE), "the device" },
	{ BUSY, DOES(COMPRESSION), "compression" },
	{ BUSY, DOES(MATCHES), "regular expressions" },
	{ BUSY, DOES(RANDOM), "random numbers" },
	{ BUSY, DOES(LOOK_UP), "look-ups" },
	{ BUSY, DOES(INTERPRETER), "Python" },
	{ BUSY, DOES(PACKAGE), "Python of libraries" },
	{ BUSY, DOES(QUERIES), "database queries" },
	{ BUSY, DOES(THROWS), "exceptions" },
	{ BUSY, DOES(PICKLES), "passing objects" },
	{ BUSY, DOES(COUNTS), "reference counts" },
	{ BUSY, DOES(OBJECTS), "Python's objects in arrays" },
	{ BUSY, DOES(CHECKS), "checks for debugging" },
	{ BUSY, DOES(COLLECTOR), "garbage collection" },
	{ BUSY, DOES(OWN), "its own code" },
	{ BUSY & ~(1u << DW_ACCOUNT_WAITS), DOES(UNKNOWN), "code of libraries" },
	{ 1u << DW_ACCOUNT_WAITS, DOES(UNKNOWN), "waits of unknown cause" },
	{ BUSY, DOES(SPIN), "spinning" },
	{ 1u << DW_ACCOUNT_SPINS, DW_ACCOUNT_ALL, "spinning for threads" },
	{ 1u << DW_ACCOUNT_NO_CPU, DW_ACCOUNT_ALL, "without a CPU" },
	{ 1u << DW_ACCOUNT_UNKNOWN, DW_ACCOUNT_ALL, "not known" },
};
#define GROUPS (sizeof groups / sizeof *groups)
_Static_assert(2 * (GROUPS + DW_ACCOUNT_PACKAGES + 1) + 1 <= DW_ACCOUNT_RUN_PARTS, "");

double dw_account_phase_ns(const struct dw_account_run *run, enum dw_account_phase phase)
{
	return run->wall_ns > 0 ? run->phases[phase]->own_ns : 0;
}

double dw_account_run_own_ns(const struct dw_account_run *run)
{
	double own_ns = 0;

	for (unsigned phase = 0; phase < DW_ACCOUNT_PHASE_COUNT; phase++)
		own_ns += dw_account_phase_ns(run, phase);
	return own_ns;
}

enum dw_account_phase dw_account_main_phase(const struct dw_account_run *run)
{
	double ns[DW_ACCOUNT_PHASE_COUNT];

	for (unsigned phase = 0; phase < DW_ACCOUNT_PHASE_COUNT; phase++)
		ns[phase] = dw_account_phase_ns(run, phase);
	if (ns[DW_ACCOUNT_LOOP] >= dw_account_run_own_ns(run) / 2)
		return DW_ACCOUNT_LOOP;
	return ns[DW_ACCOUNT_START] >= ns[DW_ACCOUNT_END] ? DW_ACCOUNT_START : DW_ACCOUNT_END;
}

DW_ORDER(run_parts_compare, struct dw_account_run_part, DW_DOWN(sum.ns) DW_TEXT(words))

static size_t run_parts_add(const struct dw_account *account, const struct dw_account_select *select, size_t group,
                            struct dw_account_run_part *to)
{
	const char *package = select->by_package ? select->package : NULL;

	to->sum = dw_account_sum(account, select);
	to->known = !(groups[group].states >> DW_ACCOUNT_UNKNOWN & 1);
	to->imports = groups[group].activities == DOES(IMPORTS);
	to->no_cpu = groups[group].states >> DW_ACCOUNT_NO_CPU & 1;
	snprintf(to->words, sizeof to->words, "%s%s%.30s", groups[group].words, package ? " " : "", package ? package : "");
	return to->sum.ns >= 1;
}

static size_t run_parts_add_imports(const struct dw_account *account, struct dw_account_select select, size_t group,
                                    struct dw_account_run_part *to)
{
	struct dw_account_import imports[DW_ACCOUNT_PACKAGES];
	size_t known = dw_account_imports(account, imports, DW_ACCOUNT_PACKAGES), count = 0;

	select.by_package = true;
	for (size_t i = 0; i <= known; i++) { /* the last one is of what is not known */
		select.package = i < known ? imports[i].package : NULL;
		count += run_parts_add(account, &select, group, &to[count]);
	}
	return count;
}

size_t dw_account_parts_of_phase(const struct dw_account *account, struct dw_account_run_part *parts)
{
	size_t count = 0;

	for (size_t g = 0; g < GROUPS; g++) {
		const struct dw_account_select select = dw_account_select_states(groups[g].states, groups[g].activities);

		if (groups[g].activities == DOES(IMPORTS))
			count += run_parts_add_imports(account, select, g, &parts[count]);
		else
			count += run_parts_add(account, &select, g, &parts[count]);
	}
	DW_SORT(parts, count, run_parts_compare);
	return count;
}

static size_t run_parts_add_loop(const struct dw_account *loop, struct dw_account_run_part *parts)
{
	parts[0] = (struct dw_account_run_part){ .sum.ns = loop->own_ns };
	parts[1] = (struct dw_account_run_part){ .no_cpu = true, .sum.ns = loop->wall_ns - loop->own_ns };
	return parts[1].sum.ns >= 1 ? 2 : 1;
}

size_t dw_account_run_parts(const struct dw_account_run *run, struct dw_account_run_part *parts)
{
	size_t count = 0;

	for (unsigned phase = 0; run->wall_ns > 0 && phase < DW_ACCOUNT_PHASE_COUNT; phase++) {
		size_t first = count;

		if (phase == DW_ACCOUNT_LOOP)
			count += run_parts_add_loop(run->phases[phase], &parts[count]);
		else
			count += dw_account_parts_of_phase(run->phases[phase], &parts[count]);
		for (; first < count; first++)
			parts[first].phase = (enum dw_account_phase)phase;
	}
	return count;
}
