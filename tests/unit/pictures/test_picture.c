/* The renderer of pictures: text in XML, merged nodes, and that parts are drawn inside their
 * wholes. */
#include <errno.h>

#include "check.h"
#include "pictures/picture.h"

struct text {
	char *at;
	size_t used, size;
};

static void put_text(void *to, const char *bytes, size_t length)
{
	struct text *text = to;

	if (text->size - text->used <= length) {
		text->size = (text->used + length + 1) * 2;
		text->at = realloc(text->at, text->size);
	}
	memcpy(text->at + text->used, bytes, length);
	text->used += length;
	text->at[text->used] = '\0';
}

static const char *xml(const char *from, unsigned columns)
{
	static struct text text;

	text.used = 0;
	put_text(&text, "", 0);
	dw_picture_xml(put_text, &text, from, columns);
	return text.at;
}

struct list {
	const struct dw_picture_node *nodes;
};

static void give(const void *context, size_t index, struct dw_picture_node *node)
{
	*node = ((const struct list *)context)->nodes[index];
}

static const struct dw_picture_kind kinds[] = {
	{ "thread", DW_HUE_GREY }, { "operator", DW_HUE_AMBER }, { "lay<er", DW_HUE_GREEN },
};

static struct text drawn_text;
static struct dw_picture_drawn drawn;

static const char *draw(const struct dw_picture_node *nodes, size_t count, bool down)
{
	struct list list = { nodes };
	struct dw_picture picture = {
		.title = "a & b", .subtitle = "<sub>", .root = "all", .counted = "call",
		.unit = dw_text_ns, .down = down, .kinds = kinds, .kind_count = 3,
		.node = give, .context = &list, .count = count,
	};

	drawn_text.used = 0;
	memset(&drawn, 0, sizeof drawn);
	if (dw_picture_write(&picture, put_text, &drawn_text, &drawn, NULL))
		return NULL;
	return drawn_text.at;
}

#define NODE(depth, value, label) { label, value, DW_PICTURE_NO_SELF, 1, depth, 1, NULL }

TEST(names_cannot_end_their_element)
{
	CHECK_STR(xml("a<b>&\"c'", DW_PICTURE_UNCUT), "a&lt;b&gt;&amp;&quot;c&#39;");
	CHECK_STR(xml("]]></title><script>", DW_PICTURE_UNCUT),
	          "]]&gt;&lt;/title&gt;&lt;script&gt;");
	CHECK_STR(xml("", 3), "");
}

TEST(what_xml_cannot_hold_is_replaced)
{
	CHECK_STR(xml("a\x01\n\t\x7f z", DW_PICTURE_UNCUT),
	          "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd z");
	CHECK_STR(xml("\xff\xc0\xaf", DW_PICTURE_UNCUT), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(xml("\xef\xbf\xbe", DW_PICTURE_UNCUT), "\xef\xbf\xbd");       /* U+FFFE */
	CHECK_STR(xml("\xed\xa0\x80", DW_PICTURE_UNCUT), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(xml("\xc2\x85", DW_PICTURE_UNCUT), "\xef\xbf\xbd");           /* C1 */
	CHECK_STR(xml("\xc3\xa9\xe5\xb1\x82\xf0\x9f\x98\x80", DW_PICTURE_UNCUT),
	          "\xc3\xa9\xe5\xb1\x82\xf0\x9f\x98\x80");
}

TEST(text_is_cut_to_columns)
{
	CHECK_STR(xml("abcdef", 6), "abcdef");
	CHECK_STR(xml("abcdef", 5), "abcd\xe2\x80\xa6");
	CHECK_STR(xml("abcdef", 1), "\xe2\x80\xa6");
	CHECK_STR(xml("a<<<<<", 3), "a&lt;\xe2\x80\xa6");
	/* two columns each */
	CHECK_STR(xml("\xe5\xb1\x82\xe5\xb1\x82\xe5\xb1\x82", 5),
	          "\xe5\xb1\x82\xe5\xb1\x82\xe2\x80\xa6");
}

/* Any byte at any place of a name leaves the picture well-formed: its markup is the same as with a
 * plain name. */
TEST(any_byte_makes_the_same_markup)
{
	char name[] = "xxxx?yyyyyyyyyyy";
	struct dw_picture_node node = NODE(0, 100, name);
	size_t plain = 0;

	for (int byte = 1; byte < 256; byte++) {
		size_t brackets = 0;

		name[4] = (char)byte;
		REQUIRE(draw(&node, 1, false));
		for (const char *at = drawn_text.at; *at; at++)
			brackets += *at == '<';
		if (byte == 1)
			plain = brackets;
		CHECK_EQ(brackets, plain);
		for (const char *at = drawn_text.at; *at; at++)
			CHECK((unsigned char)*at >= 0x20 || *at == '\n');
	}
}

TEST(narrow_nodes_are_part_of_their_parents)
{
	static const struct dw_picture_node nodes[] = {
		NODE(0, 1000000, "main"), NODE(1, 900000, "big"), NODE(2, 50, "small"),
		NODE(3, 50, "inside small"), NODE(2, 20, "smaller"), NODE(1, 1000, "one pixel"),
		NODE(2, 0, "nothing"),
	};
	const char *svg = draw(nodes, 7, false);

	REQUIRE(svg);
	CHECK_EQ(drawn.nodes, 4); /* with the whole */
	CHECK_EQ(drawn.merged, 4);
	CHECK_EQ(drawn.rows, 3);
	CHECK_EQ(drawn.total, 1000000);
	CHECK_HAS(svg, "4 nodes narrower than 0.1 pixel: 70 ns (0.0%) left in their parents");
	CHECK(!strstr(svg, "inside small"));
}

TEST(one_merged_node_is_said_in_singular)
{
	static const struct dw_picture_node nodes[] = { NODE(0, 1000000, "a"), NODE(1, 1, "b") };

	CHECK_HAS(draw(nodes, 2, false),
	          "1 node narrower than 0.1 pixel: 1 ns (0.0%) left in its parent<");
}

TEST(nothing_at_all_is_a_picture_too)
{
	const char *svg = draw(NULL, 0, false);

	REQUIRE(svg);
	CHECK_HAS(svg, "nothing was recorded");
	CHECK_EQ(drawn.nodes, 1);
	CHECK_EQ(drawn.rows, 1);
	CHECK(!strstr(svg, "nan"));
}

/* A part that claims more than its parent has is cut; values that sum past 2^53 hold. */
TEST(parts_never_reach_beyond_their_parent)
{
	static const struct dw_picture_node nodes[] = {
		NODE(0, 100, "p"), NODE(1, 80, "a"), NODE(1, 70, "b"), NODE(2, 60, "c"), NODE(1, 9, "d"),
	};
	const char *svg = draw(nodes, 5, false);

	CHECK_HAS(svg, "<rect x=\"80%\" y=\"18\" width=\"20%\""); /* b: what a left */
	CHECK_HAS(svg, "<rect x=\"80%\" y=\"0\" width=\"20%\"");  /* c */
	CHECK_EQ(drawn.merged, 1);                              /* d */
}

struct bar {
	double x, width;
	unsigned y;
};

static size_t read_bars(const char *svg, struct bar *bars, size_t most)
{
	size_t count = 0;
	const char *at = strstr(svg, "class=\"frames\"");

	while (at && count < most && (at = strstr(at, "<rect x=\"")) != NULL) {
		struct bar *bar = &bars[count];

		if (sscanf(at, "<rect x=\"%lf%%\" y=\"%u\" width=\"%lf%%\"", &bar->x, &bar->y,
		           &bar->width) == 3)
			count++;
		at++;
	}
	return count;
}

/* Random trees: every bar is within a bar of the row below it, and bars of a row do not overlap. */
TEST(bars_lie_in_the_bar_below)
{
	static struct dw_picture_node nodes[4000];
	static struct bar bars[4001];
	uint32_t seed = 12345;

	for (int round = 0; round < 5; round++) {
		uint64_t left[12] = { 0 };
		uint32_t depth = 0;
		size_t count;

		for (size_t i = 0; i < 4000; i++) {
			uint64_t value;

			seed = seed * 1664525u + 1013904223u;
			if (i)
				depth = (seed >> 8) % (depth + 2);
			depth = depth > 10 ? 10 : depth;
			value = depth ? left[depth - 1] / (2 + (seed >> 20) % 5) : (seed >> 4) + 1ull;
			if (depth)
				left[depth - 1] -= value;
			left[depth] = value;
			nodes[i] = (struct dw_picture_node)NODE(depth, value, "n");
		}
		REQUIRE(draw(nodes, 4000, true));
		count = read_bars(drawn_text.at, bars, 4001);
		CHECK_EQ(count, drawn.nodes);
		CHECK_EQ(drawn.nodes + drawn.merged, 4001);
		for (size_t i = 1; i < count; i++) {
			size_t above = i, before = i;

			while (above-- && bars[above].y != bars[i].y - 18)
				;
			CHECK(bars[i].x >= bars[above].x - 1e-9);
			CHECK(bars[i].x + bars[i].width <= bars[above].x + bars[above].width + 1e-9);
			while (before-- && bars[before].y != bars[i].y)
				;
			if (before != SIZE_MAX)
				CHECK(bars[before].x + bars[before].width <= bars[i].x + 1e-9);
		}
	}
}

TEST(flames_go_up_and_icicles_down)
{
	static const struct dw_picture_node nodes[] = { NODE(0, 10, "outer"), NODE(1, 10, "inner") };

	CHECK_HAS(draw(nodes, 2, false), "<rect x=\"0%\" y=\"36\" width=\"100%\"");
	CHECK_HAS(drawn_text.at, "class=\"dwp up\"");
	CHECK(strstr(drawn_text.at, ">all\n") < strstr(drawn_text.at, "y=\"36\""));
	CHECK_HAS(draw(nodes, 2, true), "class=\"dwp down\"");
	CHECK(strstr(drawn_text.at, ">inner\n") < strstr(drawn_text.at, "y=\"36\""));
}

TEST(tooltips_say_value_share_and_calls)
{
	struct dw_picture_node nodes[] = { NODE(0, 2000000, "t"), NODE(1, 500000, "aten::mm") };

	nodes[1].self = 20000;
	nodes[1].count = 1204;
	CHECK_HAS(draw(nodes, 2, false),
	          "<title>aten::mm\noperator, 500 us, 25.0% of all, 20.0 us self, 1,204 calls</title>");
	CHECK_HAS(drawn_text.at, "<title>a &amp; b</title>");
	CHECK_HAS(drawn_text.at, ">&lt;sub&gt;<");
}

TEST(the_legend_has_what_is_drawn)
{
	struct dw_picture_node node = NODE(0, 1, "x");

	CHECK(!strstr(draw(&node, 1, false), "lay&lt;er"));
	node.kind = 2;
	CHECK_HAS(draw(&node, 1, false), ">lay&lt;er</text>");
}

TEST(it_needs_nothing_from_outside)
{
	const char *script = dw_picture_script;

	CHECK_RANGE(strlen(script), 1000, 6143);
	CHECK(!strstr(script, "]]>"));
	CHECK(!strstr(script, "eval"));
	CHECK(!strstr(script, "Function("));
	CHECK(!strstr(script, "innerHTML"));
	CHECK(!strstr(script, "fetch"));
	CHECK(!strstr(script, "import"));
	CHECK(!strstr(dw_picture_style, "url("));
	CHECK(!strstr(dw_picture_style, "<"));
	CHECK(!strstr(dw_picture_style, "&"));
}

TEST(shares_add_up_beyond_a_double)
{
	static const struct dw_picture_node nodes[] = {
		NODE(0, UINT64_MAX / 2, "a"), NODE(1, UINT64_MAX / 2, "b"), NODE(0, UINT64_MAX / 4, "c"),
	};

	CHECK_HAS(draw(nodes, 3, true), "<rect x=\"0%\" y=\"36\" width=\"66.66667%\"");
	CHECK_HAS(drawn_text.at, "<rect x=\"66.66667%\" y=\"18\" width=\"33.33333%\"");
}

CHECK_MAIN
