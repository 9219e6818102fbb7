/*
 * The form of stored accounts: all that rules read of one run, as text. keep_account.c writes it, judge_accounts.c
 * reads it and says what the rules do. tools/measure/accounts has the commands.
 *
 * A line is a kind and its fields, with tabs between them. "\t", "\n" and "\\" stand for a tab, a line's end and a
 * backslash. A number has six significant digits. An empty field is a text that is not known. Facts, parts, activities
 * and states have their names: a fact that is no longer known is ignored, and one that a file does not name is not
 * measured.
 *
 *     account     VERSION
 *     framework   NAME
 *     iterations  marked|period|run NAME
 *     loop        INDEX COUNT THREAD
 *     foreign
 *     range       NAME FILE LINE
 *     fact        NAME VALUE LOW HIGH SAMPLES NAME RANGE WHERE NOTE
 *     missing     REASON NAMES
 *     parts       NS NO_CPU_NS
 *     part        NAME NS
 *     operator    RANGE SHARE
 *     wall        WALL OWN SYSTEM OTHERS_CPU OTHERS
 *     thread      THREAD KNOWN WAITS_KNOWN
 *     class       CLASS COUNT NS BOUNDED
 *     state       STATE NS SAMPLES WEIGHT SQUARES
 *     call        CALLEE MAKES
 *     cell        WHERE SHARE RANGE ACTIVITY STATE NS SAMPLES WEIGHT SQUARES PACKAGE CLASS CALL
 *     library     NAME NS
 *     place       FUNCTION FILE LINE ROOT NS SELF_NS
 *     caller      FUNCTION FILE NS
 *     callee      FUNCTION FILE NS
 *
 * "account" begins one. "script" and "run" say of what it is; other lines of tools/measure/accounts are ignored.
 * "iterations" has what begins each, of a period. THREAD is an index or "none". "foreign": another profiler wrote the
 * trace. RANGE is empty or the number of a line "range", from 0. LOW and HIGH are empty if they are VALUE; a fact's
 * empty fields at the end are left out, and so are a PACKAGE that is not known, the CLASS "steady" and the
 * CALL of a cell in none: the number of a line "call", from 1. "class" is of
 * iterations, with how many are of it; without such lines it is not known of which class the cells are. NAMES are facts
 * that are not measured. "parts" and what follows are of the tables of the loop: the largest parts of a mean iteration
 * and the last one, and of the operators that facts name their shares. An account without them is one of a run whose
 * tables are not known. From "wall" on, the lines are those of struct dw_account; without "wall" there is none. States
 * without time have no line. A library and a place are of the cell before them,
 * a caller and a callee of the place before them.
 *
 * Files are without their folders.
 */
#pragma once

#include "facts/facts.h"

#define ACCOUNT_FORM_VERSION 1
#define ACCOUNT_FORM_PARTS 64u /* of a loop */

static const char *const account_form_where[] = {
	[DW_SAMPLE_OUTSIDE] = "outside",
	[DW_SAMPLE_IN_STEP] = "step",
	[DW_SAMPLE_BETWEEN] = "between",
	[DW_SAMPLE_AFTER] = "after",
};
static const char *const account_form_iterations[] = {
	[DW_ITERATIONS_MARKED] = "marked",
	[DW_ITERATIONS_PERIOD] = "period",
	[DW_ITERATIONS_RUN] = "run",
};
#define ACCOUNT_FORM_COUNT(names) (sizeof(names) / sizeof *(names))
