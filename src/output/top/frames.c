/* What people read of a frame and of a wait. */
#include "top/frames.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The last two parts of a path of Python, the last one of others: "torch/nn/linear.py" is long enough. */
static const char *frames_shorten(const char *path, unsigned parts)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --parts))
		at--;
	return at;
}

/* Whether nothing but what qualifies a function of C++ stands after its parameters: "const", "&", "[clone .cold]". */
static bool frames_is_qualifier(const char *text)
{
	static const char *const words[] = { " const", " volatile", " noexcept", " &&", " &" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0) {
			text += strlen(words[i]);
			i = (size_t)-1;
		}
	return !*text || *text == '@' || strncmp(text, " [clone", 7) == 0;
}

/* Cuts the version of a symbol, and the parameters of a function of C++: "Engine::execute(int) const" becomes
 * "Engine::execute". The parentheses of operator() and of names inside a template's arguments stay. */
static void frames_shorten_name(char *name)
{
	char *end = strrchr(name, ')');
	int depth = 0;

	if (end && frames_is_qualifier(end + 1))
		for (char *at = end; at > name; at--) {
			depth += (*at == ')') - (*at == '(');
			if (depth)
				continue;
			if (at - name < 8 || strncmp(at - 8, "operator", 8) != 0)
				*at = '\0';
			return;
		}
	if (!end)
		name[strcspn(name, "@")] = '\0';
}

void dw_top_frame_name(const struct dw_process_frame *frame, char *text, size_t size)
{
	snprintf(text, size, "%s", frame->function);
	if (frame->module)
		frames_shorten_name(text);
	dw_text_disarm(text, false);
}

const char *dw_top_frame_file(const struct dw_process_frame *frame)
{
	return frames_shorten(frame->file ? frame->file : "", frame->module ? 1 : 2);
}

void dw_top_put_awaited(const struct dw_process_thread *thread, char text[80])
{
	if (thread->holder == thread->tid)
		snprintf(text, 80, "%s that it holds itself", thread->lock);
	else if (thread->joins)
		snprintf(text, 80, "the end of thread %u", thread->holder);
	else
		snprintf(text, 80, "%s that thread %u holds", thread->lock, thread->holder);
}
