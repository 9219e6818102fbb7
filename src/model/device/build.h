/* State and functions that compute device work (device.h). Only for the files of this folder. */
#pragma once

#include "base/map.h"
#include "model/core/product.h"
#include "model/device/device.h"

/* What events refer to: the driver's number of their call, the program's id of it, the node of a graph. */
enum dw_key_kind { DW_KEY_OF_DRIVER, DW_KEY_OF_PROGRAM, DW_KEY_OF_NODE };

struct dw_device_key {
	uint64_t id;
	uint32_t process;
	uint32_t call;    /* index, or DW_NO_INDEX: not found (yet) */
	uint32_t kind;    /* enum dw_key_kind */
	uint32_t place;   /* index of where the node was made, or DW_NO_INDEX */
};

/* Where a node of a graph was made. */
struct dw_node_place {
	uint64_t begin_ns, made_ns; /* since `begin_ns` a stream was captured */
	uint32_t key, thread;
	uint32_t owner;             /* index of the innermost range, or DW_NO_INDEX */
};

/* A further call of a key. Drivers count calls in 32 bits, and begin again. */
struct dw_call_again {
	uint32_t key, call;
	uint64_t start_ns;
};
/* Fewer than 2^32 calls are made in this time: equal numbers that are further apart are those of two calls. */
#define DW_NUMBERS_AGAIN_NS 600000000000u

/* A runtime call that the driver reported late. */
struct dw_late_call {
	uint64_t start_ticks, end_ticks; /* of the file */
	uint32_t thread;                 /* index in the source */
	uint32_t file, id;               /* OP */
	uint32_t correlation;
	uint64_t node;                   /* 0: it is a call; else a node of a graph was made when it ended */
	uint64_t at_ticks;               /* which ranges were open then is asked: the begin, or when the node was made */
};

/* A call of a part has a key. */
struct dw_key_use {
	uint32_t key, call;
	bool added; /* the call was added because of the key */
};

/* What one stream has. Indices are within the part. All zero is empty. */
struct dw_device_part {
	struct dw_device_owner *owners;
	struct dw_device_call *calls;
	struct dw_key_use *uses;
	struct dw_device_range *ranges;
	struct dw_node_place *places;
	size_t place_count, place_capacity;
	size_t owner_count, owner_capacity, call_count, call_capacity, use_count, use_capacity;
	size_t range_count, range_capacity;
	bool failed;
};

struct dw_device_build {
	struct dw_model *model;
	struct dw_device_work *work;
	size_t event_capacity, call_capacity, owner_capacity, name_capacity, key_capacity, late_capacity, gap_capacity,
	    range_capacity;
	struct dw_device_key *keys;
	size_t key_count;
	struct dw_call_again *agains; /* by key and begin, once all parts are taken */
	size_t again_count, again_capacity;
	struct dw_map key_map, name_map;
	uint64_t *name_keys;          /* by name */
	size_t name_key_capacity;
	struct dw_node_place *places;
	size_t place_count, place_capacity;
	struct dw_map node_calls, node_owners; /* of graph_nodes.c */
	uint64_t *node_call_keys, *node_owner_keys;
	uint32_t *node_call_values, *node_owner_values;
	size_t node_call_count, node_owner_count, node_call_capacity[2], node_owner_capacity[2];
	struct dw_late_call *lates;   /* by thread and begin */
	size_t late_count;
	bool *waits;                  /* by symbol: it is a call that waits for a device */
	struct dw_device_part *parts; /* by stream */
};

/* events.c: how device work is computed. begin(), then a walk with calls_pass.h, then end(). False:
 * out of memory. Call the reset function in any case; it does not free `work`. */
bool dw_device_begin(struct dw_device_build *build, struct dw_model *model, struct dw_device_work *work);
bool dw_device_end(struct dw_device_build *build);
void dw_device_reset(struct dw_device_build *build);

/* events.c: decodes all events. Afterwards `call` of an event is the index of a key, until
 * dw_device_take_parts() has found the calls. False: out of memory. */
bool dw_device_read_events(struct dw_device_build *build);
/* gaps.c: adds a gap of a process; one that ends when it begins did not end. Then, after all events: sorts and joins
 * them. False: out of memory. */
bool dw_device_add_gap(struct dw_device_build *build, uint32_t process, uint64_t start_ns, uint64_t end_ns);
bool dw_device_end_gaps(struct dw_device_build *build);
/* calls_pass.c: walks the host's streams and fills the parts. False: out of memory. */
bool dw_device_find_calls(struct dw_device_build *build);
/* calls_pass.c: appends the parts to the product, and finds the calls of the keys. False: out of
 * memory. */
bool dw_device_take_parts(struct dw_device_build *build);
/* call_threads.c: finds the thread for which each call was made, and its ranges around the call. False: out of memory. */
bool dw_device_find_call_threads(struct dw_device_build *build);
/* graph_nodes.c: the call of an event of a graph, whose launch is `call`: that, or the part of it that works for the ranges in which
 * the node was made. False: out of memory. */
bool dw_device_find_node_call(struct dw_device_build *build, uint32_t node, uint32_t *call);
void dw_device_nodes_reset(struct dw_device_build *build);
void dw_device_part_reset(struct dw_device_part *part);

/* The key of an id. If there is none, adds it if `add` is true, and otherwise returns NULL. NULL
 * with `add`: out of memory. */
struct dw_device_key *dw_device_key_at(struct dw_device_build *build, uint32_t process, uint64_t id,
                                       enum dw_key_kind kind, bool add);
