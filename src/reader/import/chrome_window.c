/* The window of a Chrome trace: what of the file lies in memory; see chrome.h. */
#include "import/chrome.h"

bool chrome_more(struct chrome *chrome)
{
	bool more = dw_input_more(&chrome->input);

	chrome->json.end = chrome->input.end;
	chrome->json.last = chrome->input.last;
	return more;
}

char chrome_peek(struct chrome *chrome)
{
	for (;;) {
		chrome_consume(chrome, dw_json_space(chrome->input.at));
		if (chrome->input.at < chrome->input.end)
			return *chrome->input.at;
		if (!chrome_more(chrome))
			return '\0';
	}
}

bool chrome_take(struct chrome *chrome, char c)
{
	if (chrome_peek(chrome) != c || !c)
		return false;
	chrome_consume(chrome, chrome->input.at + 1);
	return true;
}

const char *chrome_parse_value(struct chrome *chrome)
{
	const char *end;

	while (!(end = dw_json_skip(&chrome->json, chrome->input.at)) && chrome->json.why == DW_JSON_NEEDS_MORE &&
	       chrome_more(chrome))
		;
	return end;
}
