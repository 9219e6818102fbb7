/* State and functions that compute device work (device.h). Only for the files of this folder. */
#ifndef DW_MODEL_DEVICE_BUILD_H
#define DW_MODEL_DEVICE_BUILD_H

#include "base/map.h"
#include "model/core/model_data.h"
#include "model/device/device.h"

/* A number by which events refer to their call. */
struct dw_device_key {
	uint64_t id;
	uint32_t process;
	uint32_t call;    /* index, or DW_NO_INDEX: not found (yet) */
	bool external;    /* the program's id, not the driver's */
};

/* A runtime call that the driver reported late. */
struct dw_late_call {
	uint64_t start_ticks, end_ticks; /* of the file */
	uint32_t thread;                 /* index in the source */
	uint32_t file, id;               /* OP */
	uint32_t correlation;
};

struct dw_device_build {
	struct dw_model *model;
	struct dw_device_work *work;
	size_t event_capacity, call_capacity, owner_capacity, name_capacity, key_capacity, late_capacity;
	struct dw_device_key *keys;
	size_t key_count;
	struct dw_map key_map, name_map;
	uint64_t *name_keys;          /* by name */
	size_t name_key_capacity;
	uint32_t *external;           /* by event: index of its external key, or DW_NO_INDEX; NULL: none */
	struct dw_late_call *lates;   /* by thread and begin */
	size_t late_count;
};

/* events.c: decodes all events. Afterwards `call` of an event is the index of a key, until
 * dw_device_find_calls() has found the calls. False: out of memory. */
bool dw_device_read_events(struct dw_device_build *build);
/* calls.c: walks the host's streams and finds the calls of the keys. False: out of memory. */
bool dw_device_find_calls(struct dw_device_build *build);
/* homes.c: finds the home of each call and the ranges of the home around it. False: out of memory. */
bool dw_device_find_homes(struct dw_device_build *build);

/* The key of an id. If there is none, adds it if `add` is true, and otherwise returns NULL. NULL
 * with `add`: out of memory. */
struct dw_device_key *dw_device_key_at(struct dw_device_build *build, uint32_t process, uint64_t id,
                                       bool external, bool add);

#endif
