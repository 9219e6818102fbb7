/*
 * NVTX's structured payloads: arguments of a range whose layout a library has registered, such as NCCL's
 * message size, root and reduction.
 *
 *     schema, names of values  -> payload.c keeps a copy of each by domain and number
 *     event with a payload     -> nvtx_args.c, payload.c: members of the range's arguments, as JSON
 *     calls of the extension   -> payload_calls.c, which uses all of them
 *
 * Numbers and names of values are recorded. Texts, arrays, unions and nested schemas in a payload are left out.
 */
#pragma once

#include "nvtx_types.h"
#include "table.h"

#define DWI_MOST_PAYLOADS 8u /* of one event */

/* Keep a copy of a schema, or of values and their names. Return its number; 0: it cannot be kept. */
uint64_t dwi_payload_keep_schema(const struct dwi_domain *domain, const struct nvtx_schema *from);
uint64_t dwi_payload_keep_values(const struct dwi_domain *domain, const struct nvtx_value_names *from);
/* The name of the first payload's schema, or NULL. */
const char *dwi_payload_name(const struct dwi_domain *domain, const struct nvtx_payload_data *data, size_t count);
/* A number for the content of payloads. */
uint64_t dwi_payload_key(const struct nvtx_payload_data *data, size_t count);
/* Writes "name":value,... with no comma after the last one. Returns the length, less than `size`. */
size_t dwi_payload_json(const struct dwi_domain *domain, const struct nvtx_payload_data *data, size_t count,
                        char *json, size_t size);

/* nvtx.c: the domain of a handle; the number of a range that starts. */
struct dwi_domain *dwi_nvtx_domain(const void *handle);
uint64_t dwi_nvtx_start(struct dwi_name *name);

/* nvtx_args.c: records the arguments of the range that has just begun, or of the mark or range of this name
 * that comes next in this thread and need not nest. */
void dwi_nvtx_arguments(const struct dwi_domain *domain, const struct nvtx_attributes *attributes);
void dwi_nvtx_next_arguments(struct dwi_name *name, const struct dwi_domain *domain,
                             const struct nvtx_attributes *attributes);
/* Attributes with nothing but structured payloads. */
struct nvtx_attributes dwi_nvtx_of_blocks(const struct nvtx_payload_data *data, size_t count);
void dwi_nvtx_category_name(const struct dwi_domain *domain, uint32_t category, const char *name);
