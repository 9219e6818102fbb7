/* Layers: sums over the tree, shared modules, single calls, backward in both ways, limits. */
#include "made.h"

#include "model/layers/layers.h"

#define OP DWELL_CATEGORY_OPERATOR
#define LAYER DWELL_CATEGORY_LAYER

static struct made made;
static uint64_t now;

static void begin(uint32_t id)
{
	dw_encode_begin(&made.stream, now += 10, id);
}

static void end(uint64_t after)
{
	dw_encode_end(&made.stream, now += after);
}

static void link_to(uint64_t sequence, uint32_t thread)
{
	uint32_t payload[3] = { (uint32_t)sequence, (uint32_t)(sequence >> 32), thread };

	dw_encode_record(&made.stream, now, DW_LINK, 0, payload, 3);
}

/* An operator of `ticks`, with a link when `sequence` is not 0. */
static void operate(uint32_t id, uint64_t ticks, uint64_t sequence, uint32_t thread)
{
	begin(id);
	if (sequence && thread)
		link_to(sequence, thread);
	now += ticks;
	if (sequence && !thread)
		link_to(sequence, 0);
	end(0);
}

static void start(void)
{
	made_init(&made);
	now = 1000;
}

static const struct dw_layers *layers_of(struct dw_layers_ask ask)
{
	return dw_model_layers(made.model, &ask, &made.error);
}

static const struct dw_layer *layer(const struct dw_layers *layers, const char *path)
{
	for (size_t i = 0; i < layers->count; i++)
		if (strcmp(layers->rows[i].path, path) == 0)
			return &layers->rows[i];
	return NULL;
}

#define ALL (struct dw_layers_ask){ .operators = true, .calls = true }

/* Over the tree, over the operators within it, and over the operators view's product. */
static void check_sums(const struct dw_layers *layers)
{
	const struct dw_flat *flat = dw_model_flat(made.model, 1u << OP, &made.error);
	uint64_t tree = layers->outside.operators_ns + layers->outside.backward_ns, within = 0;
	uint64_t view = 0, calls = 0, view_calls = 0;

	for (size_t i = 0; i < layers->count; i++)
		tree += layers->rows[i].own.operators_ns + layers->rows[i].own.backward_ns;
	for (size_t i = 0; i < layers->operator_count; i++) {
		const struct dw_layer_operator *operator = &layers->operators[i];

		within += operator->own.operators_ns + operator->own.backward_ns;
		calls += operator->calls + operator->backward_calls;
	}
	for (size_t i = 0; i < flat->count; i++) {
		view += flat->rows[i].stat.self_ns;
		view_calls += flat->rows[i].stat.count;
	}
	CHECK_EQ(tree, view);
	CHECK_EQ(within, view);
	CHECK_EQ(calls, view_calls);
}

TEST(sums_are_those_of_the_operators_view)
{
	uint64_t random = 88172645463325252u;
	uint32_t ops[5], paths[6];
	int depth = 0;
	bool layers_open[64];

	start();
	for (int i = 0; i < 5; i++)
		ops[i] = made_op(&made, OP, (const char *[]){ "a", "b", "c", "d", "e" }[i]);
	for (int i = 0; i < 6; i++)
		paths[i] = made_op(&made, LAYER, (const char *[]){ "N", "N.x", "N.x.y", "head", "N.z", "M" }[i]);
	for (int i = 0; i < 20000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (depth && (random % 5 < 2 || depth == 60)) {
			end(random >> 50);
			depth--;
			continue;
		}
		layers_open[depth] = random % 3 == 0;
		begin(layers_open[depth] ? paths[random >> 20 & 0xffff ? (random >> 20) % 6 : 0]
		                         : ops[(random >> 20) % 5]);
		if (!layers_open[depth] && random >> 40 & 1)
			link_to(random >> 44 & 63, random >> 41 & 1 ? made.thread : 0);
		depth++;
	}
	while (depth--)
		end(7);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of(ALL);
	REQUIRE(layers);
	check_sums(layers);
	layers = layers_of((struct dw_layers_ask){ .operators = true });
	REQUIRE(layers);
	check_sums(layers);
	made_close(&made);
}

TEST(a_shared_module_is_credited_by_path)
{
	start();
	uint32_t a = made_op(&made, LAYER, "N.a"), b = made_op(&made, LAYER, "N.b");
	uint32_t act = made_op(&made, LAYER, "act"), relu = made_op(&made, OP, "relu");

	for (int i = 0; i < 3; i++) {
		begin(i == 1 ? b : a);
		begin(act); /* a name without a root is a path in the layer around it */
		operate(relu, 100 + (uint64_t)i, 0, 0);
		end(0);
		end(0);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of(ALL);
	CHECK_EQ(layer(layers, "N.a.act")->calls, 2);
	CHECK_EQ(layer(layers, "N.a.act")->own.operators_ns, 202);
	CHECK_EQ(layer(layers, "N.b.act")->calls, 1);
	CHECK_EQ(layer(layers, "N.b.act")->own.operators_ns, 101);
	CHECK_EQ(layer(layers, "N.b")->all.operators_ns, 101);
	check_sums(layers);
	made_close(&made);
}

TEST(calls_are_apart_and_find_their_backward_by_link)
{
	start();
	uint32_t conv = made_op(&made, LAYER, "N.conv"), op = made_op(&made, OP, "conv2d");
	uint32_t back = made_op(&made, OP, "ConvBackward"), mm = made_op(&made, OP, "mm");

	for (uint64_t i = 1; i <= 3; i++) {
		begin(conv);
		operate(op, 100 * i, i, 0);
		end(5);
	}
	for (uint64_t i = 3; i; i--) {
		begin(back);
		link_to(i, made.thread);
		operate(mm, 1000 * i, 0, 0);
		end(1);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of(ALL);
	const struct dw_layer *row = layer(layers, "N.conv");
	REQUIRE(row && row->call_count == 3);
	for (size_t i = 0; i < 3; i++) {
		const struct dw_layer_call *call = &layers->calls[row->first_call + i];
		const struct dw_layer_operator *operators = &layers->operators[call->operators.first];

		CHECK_EQ(call->number, i);
		CHECK_EQ(call->own.operators_ns, 100 * (i + 1));
		CHECK_EQ(call->own.backward_ns, 1000 * (i + 1) + 11);
		CHECK_EQ(call->total_ns, 100 * (i + 1) + 15);
		REQUIRE(call->operators.count == 3); /* in the order in which they were first seen */
		CHECK_STR(operators[0].name, "conv2d");
		CHECK_STR(operators[1].name, "ConvBackward");
		CHECK_EQ(operators[1].backward_total_ns, 1000 * (i + 1) + 11);
		CHECK_EQ(operators[2].own.backward_ns, 1000 * (i + 1));
	}
	CHECK_EQ(row->own.backward_ns, 6033);
	check_sums(layers);
	made_close(&made);
}

TEST(a_bracketed_backward_pairs_with_the_last_call)
{
	start();
	uint32_t phase = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t act = made_op(&made, LAYER, "N.act"), op = made_op(&made, OP, "relu");

	for (uint64_t i = 1; i <= 2; i++) {
		begin(act);
		operate(op, i, 0, 0);
		end(0);
	}
	begin(phase);
	for (uint64_t i = 1; i <= 3; i++) { /* one more than there were calls: the layer's own */
		begin(act);
		operate(op, 100 * i, 0, 0);
		end(0);
	}
	end(0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of(ALL);
	const struct dw_layer *row = layer(layers, "N.act");
	REQUIRE(row && row->call_count == 2);
	CHECK_EQ(row->calls, 2);
	CHECK_EQ(row->own.backward_ns, 600);
	CHECK_EQ(layers->calls[row->first_call].own.backward_ns, 200);
	CHECK_EQ(layers->calls[row->first_call + 1].own.backward_ns, 100);
	CHECK_EQ(row->operators.count, 1);
	CHECK_EQ(layers->operators[row->operators.first].own.backward_ns, 300);
	check_sums(layers);
	made_close(&made);
}

TEST(a_layer_within_itself_counts_its_time_once)
{
	start();
	uint32_t layer_id = made_op(&made, LAYER, "N"), op = made_op(&made, OP, "again");

	begin(layer_id);
	begin(op);
	begin(layer_id);
	operate(op, 100, 0, 0);
	end(0);
	end(0);
	end(0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of((struct dw_layers_ask){ .operators = true });
	CHECK_EQ(layers->count, 1);
	CHECK_EQ(layers->rows[0].calls, 2);
	CHECK_EQ(layers->rows[0].total_ns, 130);
	CHECK_EQ(layers->operators[0].calls, 2);
	CHECK_EQ(layers->operators[0].total_ns, 120);
	check_sums(layers);
	made_close(&made);
}

/* A tensor of two sizes, as SHAPES has it. */
static uint32_t shapes(int64_t rows, int64_t columns)
{
	uint32_t id = dw_encode_new_id(&made.encode);
	struct dw_entry_shapes *entry =
	    dw_encode_entry(&made.process, DW_ENTRY_SHAPES, id, 1, sizeof *entry + 24);
	int64_t sizes[2] = { rows, columns };

	entry->tensors[0] = DWELL_FLOAT32;
	entry->tensors[1] = 2;
	memcpy(entry->tensors + 8, sizes, sizeof sizes);
	return id;
}

TEST(parameters_type_and_layers_that_are_never_called)
{
	start();
	uint32_t size = shapes(3, 5);
	uint32_t fc = dw_encode_op(&made.process, LAYER, "N.fc", "Linear", size, NULL, 0);

	dw_encode_op(&made.process, LAYER, "N.drop", "Dropout", 0, NULL, 0);
	dw_encode_op(&made.process, LAYER, "Other.drop", "Dropout", 0, NULL, 0);
	begin(fc);
	end(1);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of((struct dw_layers_ask){ .uncalled = true });
	CHECK(layers->has_parameters);
	CHECK_EQ(layer(layers, "N.fc")->parameters, 15);
	CHECK_STR(layer(layers, "N.fc")->type, "Linear");
	CHECK(layer(layers, "N.drop") && !layer(layers, "Other.drop"));
	CHECK(!layer(layers_of((struct dw_layers_ask){ false }), "N.drop"));
	made_close(&made);
}

TEST(choices_by_path)
{
	enum dw_layer_choice *choices;

	start();
	const char *const paths[] = { "N", "N.a", "N.a.x", "N.b", "M" };
	for (int i = 0; i < 5; i++) {
		begin(made_op(&made, LAYER, paths[i]));
		end(1);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of((struct dw_layers_ask){ false });
	REQUIRE(dw_layers_choose(made.model, layers, "N.a", &choices, &made.error) == 0);
	CHECK_EQ(choices[0], DW_LAYER_ABOVE);
	CHECK_EQ(choices[1], DW_LAYER_CHOSEN);
	CHECK_EQ(choices[2], DW_LAYER_BELOW);
	CHECK_EQ(choices[3], DW_LAYER_LEFT_OUT);
	CHECK_EQ(dw_layers_choose(made.model, layers, "N.*,N.aa", &choices, &made.error), DWELL_E_NAME);
	CHECK(strstr(made.error.message, "did you mean 'N.a'"));
	CHECK_EQ(dw_layers_choose(made.model, layers, "", &choices, &made.error), DWELL_E_ARGUMENT);
	made_close(&made);
}

TEST(ten_thousand_layers_500_deep)
{
	static uint32_t ids[10000];
	char path[4096];
	size_t at = 0;

	start();
	for (int i = 0; i < 10000; i++) {
		if (i % 500 == 0)
			at = (size_t)snprintf(path, sizeof path, "N.%d", i);
		else
			at += (size_t)snprintf(path + at, sizeof path - at, ".%d", i % 500);
		ids[i] = made_op(&made, LAYER, path);
	}
	for (int i = 0; i < 10000; i += 500) {
		for (int d = 0; d < 500; d++)
			begin(ids[i + d]);
		for (int d = 0; d < 500; d++)
			end(1);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_layers *layers = layers_of(ALL);
	REQUIRE(layers && layers->count == 10001 && layers->call_count == 10000);
	CHECK_EQ(layers->rows[500].depth, 500);
	CHECK_EQ(layers->rows[500].total_ns, 1);
	CHECK_EQ(layers->rows[1].self_ns, 11);
	made_close(&made);
}

CHECK_MAIN
