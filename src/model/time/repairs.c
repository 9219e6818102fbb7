/*
 * Repairs: what was damaged in the source and what was recovered, as sentences.
 *
 * The source has sentences of its own on its repairs, but without numbers: counting needs a pass
 * over the records.
 */
#include <stdio.h>

#include "base/text.h"
#include "model/core/product.h"
#include "model/time/profiles.h"

/* Formats 1204331 as 1,204,331. */
static const char *repairs_group_digits(char text[32], uint64_t value)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
	char *to = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

static const char *repairs_torn_sentence(struct dw_model *model, const struct dw_source_file *file)
{
	const struct dw_flat *flat = dw_model_flat(model, UINT32_MAX, NULL);
	char ranges[32], open[32], why[160] = "ends inside a chunk (the program was killed)";

	if (!flat)
		return NULL;
	if (file->missing_bytes)
		snprintf(why, sizeof why, "is a truncated copy (%s of %s are missing; copy it again)",
		         dw_text_bytes((double)file->missing_bytes, " ").at,
		         dw_text_bytes((double)file->missing_bytes + (double)file->size_bytes, " ").at);
	return dw_arena_printf(&model->arena, "%s %s: recovered %s range%s, the last at %.1f s; %s range%s open",
	                       file->path, why, repairs_group_digits(ranges, flat->ranges),
	                       flat->ranges == 1 ? "" : "s", (double)flat->last_ns / 1e9,
	                       repairs_group_digits(open, flat->open), flat->open == 1 ? " was" : "s were");
}

struct repairs {
	const char **list;
	size_t count;
};

static bool repairs_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_source *source = model->source;
	struct repairs *repairs = result;

	repairs->list = dw_arena_alloc(&model->arena, (source->file_count + source->repair_count + 1) *
	                                                  sizeof *repairs->list);
	if (!repairs->list)
		return false;
	for (size_t i = 0; i < source->file_count; i++) {
		if ((!source->files[i].torn && !source->files[i].missing_bytes) || source->live)
			continue;
		repairs->list[repairs->count] = repairs_torn_sentence(model, &source->files[i]);
		if (!repairs->list[repairs->count++])
			return false;
	}
	/* Replaces the source's own sentences on these files, which have no numbers. */
	for (size_t i = 0; i < source->repair_count; i++)
		if (!strstr(source->repairs[i], " ends inside a chunk ") &&
		    !strstr(source->repairs[i], " is a truncated copy: "))
			repairs->list[repairs->count++] = source->repairs[i];
	return true;
}

DW_PRODUCT(repairs, struct repairs, repairs_compute, NULL);

const char *const *dw_model_repairs(struct dw_model *model, size_t *count)
{
	const struct repairs *repairs = dw_product_get(model, &dw_product_repairs, 0, NULL, NULL);

	*count = repairs ? repairs->count : 0;
	return repairs ? repairs->list : NULL;
}
