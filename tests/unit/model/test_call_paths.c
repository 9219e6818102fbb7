/* The call-path trie, compared with a linear search in a list of paths. */
#include "../check.h"

#include "model/core/call_paths.h"

enum { OTHER = 1, KEYS = 40 };

struct node {
	struct dw_call_path path;
	uint32_t added; /* how often the path was asked for */
};

static struct dw_call_path list[20000];
static uint32_t list_count;
static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 16) % below);
}

static uint32_t list_find(uint32_t parent, uint32_t key)
{
	for (uint32_t i = 0; i < list_count; i++)
		if (list[i].parent == parent && list[i].key == key)
			return i;
	return DW_NO_INDEX;
}

static uint32_t list_add(uint32_t parent, uint32_t key, uint32_t depth)
{
	list[list_count] = (struct dw_call_path){ .parent = parent, .key = key, .depth = depth };
	return list_count++;
}

/* What the trie must answer, by the words of call_paths.h. */
static uint32_t list_child(const struct dw_call_paths *limits, uint32_t parent, uint32_t key)
{
	uint32_t found = list_find(parent, key), other = limits->other_key;

	if (found != DW_NO_INDEX)
		return found;
	if (list[parent].depth == limits->deepest)
		return DW_CALL_PATH_FOLDED;
	if (list_count < limits->most || (other && key == other))
		return list_add(parent, key, list[parent].depth + 1);
	if (!other || (list[parent].depth && list[parent].key == other))
		return DW_CALL_PATH_FOLDED;
	return list_child(limits, parent, other);
}

static void compare(struct dw_call_paths paths)
{
	uint32_t wrong = 0, folded = 0, others = 0;

	list_count = 0;
	state = 88172645463325252u;
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_EQ(dw_call_path_root(&paths, i), i);
		list_add(DW_NO_INDEX, i, 0);
	}
	for (uint32_t round = 0; round < 30000; round++) {
		uint32_t parent = draw(list_count), key = draw(KEYS), wanted, got;

		wanted = list_child(&paths, parent, key);
		got = dw_call_path_child(&paths, parent, key);
		wrong += got != wanted;
		folded += got == DW_CALL_PATH_FOLDED;
		if (got < DW_CALL_PATH_FOLDED) {
			((struct node *)paths.nodes)[got].added++;
			others += key != OTHER && dw_call_path_at(&paths, got)->key == OTHER;
		}
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(paths.count, list_count);
	CHECK(folded > 100);
	CHECK((others > 100) == (paths.other_key != 0));
	for (uint32_t i = 0; i < list_count; i++) {
		const struct dw_call_path *path = dw_call_path_at(&paths, i);

		wrong += path->parent != list[i].parent || path->key != list[i].key ||
		         path->depth != list[i].depth || path->calls || (i > 2 && path->parent >= i);
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(dw_call_path_root(&paths, 2), 2);
	dw_call_paths_reset(&paths);
	CHECK(!paths.nodes && !paths.count && paths.most);
}

TEST(further_paths_are_other_calls)
{
	compare((struct dw_call_paths){ .node_bytes = sizeof(struct node), .most = 2000, .deepest = 8,
	                                .other_key = OTHER });
}

TEST(without_another_key_further_paths_have_no_node)
{
	compare((struct dw_call_paths){ .node_bytes = sizeof(struct node), .most = 2000, .deepest = 8 });
}

CHECK_MAIN
