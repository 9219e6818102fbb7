/* Names to ids. */
#pragma once

#include "record/record.h"

uint32_t dw_new_id(void); /* 0 means no ids are left */
uint32_t dw_new_profile_id(void); /* the same; PROFILE entries count apart */
uint32_t dw_intern_string(const char *text, size_t length);
uint32_t dw_intern_text(const char *text); /* NULL: 0 */
uint32_t dw_intern_op(uint32_t category, const char *name, const char *detail, uint32_t shapes,
                      const char *file, uint32_t line);
/* The same with a name whose id is known. */
uint32_t dw_intern_op_of(uint32_t category, const char *name, uint32_t name_id, const char *detail,
                         uint32_t shapes, const char *file, uint32_t line);
/* The same with a name that the program made at run time; see named.c. */
uint32_t dw_intern_made(uint32_t category, const char *name, const char *detail, uint32_t shapes);
/* A function by its address; its name is a FRAME. */
uint32_t dw_intern_function(uintptr_t address);
uint32_t dw_intern_frame(const char *function, const char *file, uint32_t line);
uint32_t dw_intern_stack(const uint32_t *frames, uint32_t count); /* FRAME ids, innermost first */
uint32_t dw_intern_shapes(const struct dwell_tensor *tensors, unsigned count);
/* The same with a call's FLOPs and bytes, DWELL_NOT_GIVEN if unknown, as a first argument of type DWELL_ARG_WORK. */
uint32_t dw_intern_shapes_work(const struct dwell_tensor *tensors, unsigned count, uint64_t flops,
                               uint64_t bytes);
/* The same for a layer's parameters. More than 16 are stored as one number of elements per data
 * type, so that none is cut off. */
uint32_t dw_intern_parameters(const struct dwell_tensor *tensors, unsigned count);
uint64_t dw_hash(const void *data, size_t bytes, uint64_t seed);
/* The id of an entry, which is complete except for its id. Its size is a multiple of 8. */
uint32_t dw_intern(struct dw_entry *entry);
/* The same if it is known already; 0: it is not. */
uint32_t dw_intern_find(const struct dw_entry *entry);
/* A string whose entry `intern` interns. */
uint32_t dw_intern_string_by(const char *text, size_t length, uint32_t (*intern)(struct dw_entry *));
/* Copies the entry of an operator or of another range. False: `id` is none, or not in the table. Slow: it searches. */
bool dw_intern_op_entry(uint32_t id, struct dw_entry_op *op);
/* Writes all entries that this process knows to a new file's journal, with the same ids. */
void dw_intern_replay(void);

/* Zeroed memory that is never released; NULL if there is none. */
void *dw_intern_memory(size_t bytes);
