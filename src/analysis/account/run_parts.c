/* The parts of a run for people: what was done before the loop and after it, in words; see account.h. */
#include <stdio.h>

#include "account/kinds.h"
#include "base/order.h"

#define DOES(name) DW_ACTIVITY_SET(name)
#define BUSY (1u << DW_ACCOUNT_RUNS | 1u << DW_ACCOUNT_OTHERS | 1u << DW_ACCOUNT_WAITS)

/* Cells with these are in one of them, all others in those of kinds.h. */
static const struct run_parts_group {
	uint32_t states;
	dw_activity_set activities;
	const char *words;
} groups[] = {
	{ 1u << DW_ACCOUNT_WAITS, DOES(UNKNOWN), "waits of unknown cause" },
	{ 1u << DW_ACCOUNT_SPINS, DW_ACCOUNT_ALL, "spinning for threads" },
	{ 1u << DW_ACCOUNT_NO_CPU, DW_ACCOUNT_ALL, "without a CPU" },
	{ 1u << DW_ACCOUNT_UNKNOWN, DW_ACCOUNT_ALL, "not known" },
};
#define GROUPS (sizeof groups / sizeof *groups)
_Static_assert(2 * (GROUPS + DW_ACCOUNT_KIND_COUNT + DW_ACCOUNT_PACKAGES + 1) + 1 <= DW_ACCOUNT_RUN_PARTS, "");

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

double dw_account_work(const struct dw_account *account)
{
	const struct dw_account_select others = dw_account_select_states(~0u, DOES(IMPORTS) | DOES(COLLECTOR) | DOES(DEVICE));

	return dw_account_is_divided(account) ? account->own_ns - dw_account_sum(account, &others).ns : 0;
}

enum dw_account_phase dw_account_main_phase(const struct dw_account_run *run)
{
	double ns[DW_ACCOUNT_PHASE_COUNT], work_ns;

	for (unsigned phase = 0; phase < DW_ACCOUNT_PHASE_COUNT; phase++)
		ns[phase] = dw_account_phase_ns(run, phase);
	if (ns[DW_ACCOUNT_LOOP] >= dw_account_run_own_ns(run) / 2)
		return DW_ACCOUNT_LOOP;
	/* How long imports take, and the collector at exit, is the libraries' matter, and a device that is waited for has the loop's
	 * work. So the program's work after a short loop comes before a start that mainly imports. */
	work_ns = dw_account_work(run->phases[DW_ACCOUNT_END]);
	if (work_ns >= ns[DW_ACCOUNT_LOOP] && work_ns > dw_account_work(run->phases[DW_ACCOUNT_START]))
		return DW_ACCOUNT_END;
	return ns[DW_ACCOUNT_START] >= ns[DW_ACCOUNT_END] ? DW_ACCOUNT_START : DW_ACCOUNT_END;
}

DW_ORDER(run_parts_compare, struct dw_account_run_part, DW_DOWN(sum.ns) DW_TEXT(words))

static size_t run_parts_add(const struct dw_account *account, const struct dw_account_select *select, const struct run_parts_group *group,
                            struct dw_account_run_part *to)
{
	const char *package = select->by_package ? select->package : NULL;
	char library[64];

	to->sum = dw_account_sum(account, select);
	to->known = !(group->states >> DW_ACCOUNT_UNKNOWN & 1);
	to->imports = group->activities == DOES(IMPORTS);
	to->no_cpu = group->states >> DW_ACCOUNT_NO_CPU & 1;
	if (group->activities == DOES(UNKNOWN) && group->states >> DW_ACCOUNT_RUNS & 1 && to->sum.library)
		snprintf(to->words, sizeof to->words, "code of %.40s", dw_library_name(to->sum.library, library));
	else
		snprintf(to->words, sizeof to->words, "%s%s%.30s", group->words, package ? " " : "", package ? package : "");
	return to->sum.ns >= 1;
}

static size_t run_parts_add_imports(const struct dw_account *account, struct dw_account_select select, const struct run_parts_group *group,
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

/* A kind of work, or a state that has its own words. False: an earlier one has these words. */
static bool run_parts_group(size_t at, struct run_parts_group *group)
{
	if (at >= DW_ACCOUNT_KIND_COUNT) {
		*group = groups[at - DW_ACCOUNT_KIND_COUNT];
		return true;
	}
	group->words = dw_account_kind_words(at, DW_ACCOUNT_OF_RUN, &group->activities);
	group->states = group->activities == DOES(UNKNOWN) ? BUSY & ~(1u << DW_ACCOUNT_WAITS) : BUSY;
	return group->words;
}

size_t dw_account_parts_of_phase(const struct dw_account *account, struct dw_account_run_part *parts)
{
	size_t count = 0;

	for (size_t at = 0; at < DW_ACCOUNT_KIND_COUNT + GROUPS; at++) {
		struct run_parts_group group;
		struct dw_account_select select;

		if (!run_parts_group(at, &group))
			continue;
		select = dw_account_select_states(group.states, group.activities);
		if (group.activities == DOES(IMPORTS))
			count += run_parts_add_imports(account, select, &group, &parts[count]);
		else
			count += run_parts_add(account, &select, &group, &parts[count]);
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
