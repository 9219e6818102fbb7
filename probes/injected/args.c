/*
 * Arguments of ranges: what a library says about a range after it began, as JSON.
 *
 * The trace holds one text of arguments for a range, so each argument is added to those before and
 * the whole is recorded again. A thread keeps the text of one range, the innermost that got any.
 */
#include "table.h"

#include <stdio.h>
#include <string.h>

#define MOST_TEXTS 65536u

size_t dwi_json_text(const char *text, size_t length, char *json, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 1;

	json[0] = '"';
	for (size_t i = 0; i < length;) {
		size_t part = dwi_utf8_sequence((const unsigned char *)text + i, length - i);
		unsigned char c = (unsigned char)text[i];

		if (at + 7 >= size) /* the longest replacement and the closing quote */
			break;
		if (!part) {
			memcpy(json + at, "\xef\xbf\xbd", 3);
			at += 3;
			i++;
		} else if (c < 0x20 || c == '"' || c == '\\') {
			memcpy(json + at, "\\u00", 4);
			json[at + 4] = digits[c >> 4];
			json[at + 5] = digits[c & 15];
			at += 6;
			i++;
		} else {
			memcpy(json + at, text + i, part);
			at += part;
			i += part;
		}
	}
	json[at++] = '"';
	return at;
}

/* A program that gives each range another argument must not fill the trace's dictionary. */
static bool args_are_bounded(uint32_t id)
{
	static uint32_t newest, count; /* atomic */

	if (id > __atomic_load_n(&newest, __ATOMIC_RELAXED)) {
		__atomic_store_n(&newest, id, __ATOMIC_RELAXED);
		__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&count, __ATOMIC_RELAXED) < MOST_TEXTS;
}

static uint32_t args_full; /* atomic; 1: the trace gets no more texts from this process */

static void args_record(struct dwi_thread *thread, uint32_t text)
{
	if (!args_are_bounded(text))
		__atomic_store_n(&args_full, 1, __ATOMIC_RELAXED);
	dwi_recorded(thread, true);
	dwell_args(text);
	dwi_recorded(thread, false);
}

bool dwi_arguments_again(const struct dwi_domain *domain, uint64_t key)
{
	struct dwi_thread *thread;
	struct dwi_open *open = dwi_innermost(domain, 0, &thread);

	if (!open || !open->began)
		return true; /* the range is not recorded */
	if (thread->known_args[key % DWI_CACHE].key != key)
		return false;
	dwi_recorded(thread, true);
	dwell_args(thread->known_args[key % DWI_CACHE].text);
	dwi_recorded(thread, false);
	return true;
}

/* The id of the text, which the thread keeps; 0: the trace has no space for it. */
static uint32_t args_keep(struct dwi_thread *thread, uint64_t key, const char *json)
{
	uint32_t text;

	if (__atomic_load_n(&args_full, __ATOMIC_RELAXED)) {
		dwell_probe_lost(1);
		return 0;
	}
	text = dwell_intern_args(json);
	if (!text)
		return 0;
	thread->known_args[key % DWI_CACHE].key = 0; /* a signal handler between finds no match */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->known_args[key % DWI_CACHE].text = text;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->known_args[key % DWI_CACHE].key = key;
	return text;
}

void dwi_arguments(const struct dwi_domain *domain, uint64_t key, const char *json)
{
	struct dwi_thread *thread;
	struct dwi_open *open = dwi_innermost(domain, 0, &thread);
	uint32_t text = open && open->began ? args_keep(thread, key, json) : 0;

	if (text)
		args_record(thread, text);
}

bool dwi_next_arguments_again(struct dwi_name *name, uint64_t key)
{
	struct dwi_thread *thread = dwi_thread_here();

	if (!thread || thread->known_args[key % DWI_CACHE].key != key)
		return false;
	dwell_args_next(&name->site, thread->known_args[key % DWI_CACHE].text);
	return true;
}

void dwi_next_arguments(struct dwi_name *name, uint64_t key, const char *json)
{
	struct dwi_thread *thread = dwi_thread_here();
	uint32_t text = thread ? args_keep(thread, key, json) : 0;

	if (!text)
		return;
	if (!args_are_bounded(text))
		__atomic_store_n(&args_full, 1, __ATOMIC_RELAXED);
	dwell_args_next(&name->site, text);
}

size_t dwi_json_number(double value, char *json, size_t size)
{
	int length = snprintf(json, size, value != value || value - value != 0 ? "null" : "%.15g", value);

	for (int i = 0; i < length; i++) /* a locale's decimal point */
		if (json[i] == ',')
			json[i] = '.';
	return (size_t)length;
}

/* False: the range is not recorded, or the domain never has one, as that of LLVM's OpenMP for arguments. */
static bool args_are_wanted(const struct dwi_domain *domain, const struct dwi_open *open)
{
	return open ? open->began : domain && __atomic_load_n(&domain->noted, __ATOMIC_RELAXED);
}

void dwi_argument(const struct dwi_domain *domain, uint64_t id, const char *key, const char *value,
                  size_t length)
{
	struct dwi_thread *thread;
	struct dwi_open *open = dwi_innermost(domain, id, &thread);
	size_t at, keys = strnlen(key, 200);

	if (!args_are_wanted(domain, open))
		return;
	at = open && open->args ? open->args : 1;
	if (!open || (open->args && thread->args_depth != thread->depth) ||
	    at + 6 * keys + length + 16 > DWI_ARGS_BYTES || __atomic_load_n(&args_full, __ATOMIC_RELAXED)) {
		if (dwell_active())
			dwell_probe_lost(1);
		return;
	}
	thread->args_depth = thread->depth;
	thread->args[at - 1] = open->args ? ',' : '{';
	at += dwi_json_text(key, keys, thread->args + at, 6 * keys + 10);
	thread->args[at++] = ':';
	memcpy(thread->args + at, value, length);
	at += length;
	memcpy(thread->args + at, "}", 2);
	open->args = (uint32_t)at + 1;
	args_record(thread, dwell_intern_args(thread->args));
}

void dwi_argument_text(const struct dwi_domain *domain, uint64_t id, const char *key,
                       const char *value, size_t length)
{
	char json[DWI_LONGEST];
	struct dwi_thread *thread;

	if (args_are_wanted(domain, dwi_innermost(domain, id, &thread)))
		dwi_argument(domain, id, key, json, dwi_json_text(value, length, json, sizeof json));
}

void dwi_argument_number(const struct dwi_domain *domain, uint64_t id, const char *key, double value)
{
	char json[64];

	dwi_argument(domain, id, key, json, dwi_json_number(value, json, sizeof json));
}
