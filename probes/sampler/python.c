/*
 * Frames of Python, read from the interpreter's memory by the thread that they belong to.
 *
 * The thread is interrupted at any instruction, so the interpreter's functions cannot be called and its lock may
 * be held by others. The chain of a thread's frames is changed by that thread alone, and so it stands still; but it may
 * be half changed. Nobody else frees what it leads to: a chain is half changed only while the thread holds the
 * interpreter's lock, and the code of a frame lives as long as the frame. So frames are read directly, in pages that the
 * kernel can read. Names and lines are copied by the kernel: they are read for each frame once, and what is no frame may lead
 * anywhere. format/python_frames.h knows where the fields lie.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "format/python_frames.h"

static struct {
	bool known;
	struct dw_python_layout layout;
	void *(*thread)(void);      /* the calling thread's state; NULL: none, or the interpreter has not begun */
	int (*is_finalizing)(void); /* NULL: unknown */
	const void *code_type;      /* the type of code objects */
	uintptr_t loop, loop_end;   /* the code of the interpreter's loop */
} python;

/*
 * A word of a frame. When a call of the loop begins, the interpreter publishes its record before it stores the frame
 * there: until then the record leads to whatever was on the stack. So each page is tried. 0: it cannot be read.
 */
static uint64_t python_pointer(struct dws_memory *memory, uintptr_t at)
{
	const volatile uint64_t *there = at % sizeof at == 0 ? dws_word(memory, at) : NULL;

	return there ? *there : 0;
}

static uint8_t python_byte(struct dws_memory *memory, uintptr_t at)
{
	const volatile uint8_t *there = dws_word(memory, at & ~(uintptr_t)7);

	return there ? there[at & 7] : 0;
}

/* ---- code that is freed ------------------------------------------------------------------------ */

/* How often code at addresses with this hash was freed. */
static uint16_t freed[4096]; /* atomic */
static void (*python_real_free)(void *);

static uint16_t *python_freed(uintptr_t code)
{
	return &freed[dws_sampler_hash(7, code) % (sizeof freed / sizeof *freed)];
}

static void python_free(void *code)
{
	__atomic_fetch_add(python_freed((uintptr_t)code), 1, __ATOMIC_RELAXED);
	python_real_free(code);
}

/* The type of code objects calls python_free() for each that is freed. Its name is checked: with other options of the
 * interpreter's build the fields lie elsewhere, and then addresses alone identify code. */
static void python_watch_code(void)
{
	void **type = (void **)(uintptr_t)python.code_type;

	if (!type || !type[3] || memcmp(type[3], "code", 5) != 0 || !type[6])
		return;
	python_real_free = (void (*)(void *))(uintptr_t)type[6];
	type[6] = (void *)(uintptr_t)python_free;
}

uint64_t dws_python_key(const struct dws_python_frame *frame)
{
	uint64_t times = __atomic_load_n(python_freed(frame->code), __ATOMIC_RELAXED);

	return dws_sampler_hash(dws_sampler_hash(3 + 2 * times, frame->code), frame->instruction);
}

/* ---- the interpreter ---------------------------------------------------------------------------- */

static uint32_t python_minor(void)
{
	const unsigned long *number = dlsym(RTLD_DEFAULT, "Py_Version");
	const char *(*version)(void) = NULL;
	const char *text;

	if (number)
		return (uint32_t)(*number >> 16 & 255);
	*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	text = version ? version() : "";
	return strncmp(text, "3.9", 3) == 0 ? 9 : strncmp(text, "3.10", 4) == 0 ? 10 : 0;
}

/* Needed before 3.11 alone, where a frame has no record in the native one. */
static void python_find_loop(void)
{
#ifdef RTLD_DL_SYMENT /* other C libraries than glibc do not say how long a function is */
	void *loop = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (loop && dladdr1(loop, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) && symbol) {
		python.loop = (uintptr_t)loop;
		python.loop_end = python.loop + symbol->st_size;
	}
#endif
}

void dws_python_prepare(const char **lacks)
{
	const uint64_t *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");

	if (!runtime)
		return;
	*(void **)&python.thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	python.code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
	*(void **)&python.is_finalizing = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
	if (!python.is_finalizing)
		*(void **)&python.is_finalizing = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
	python.known = dw_python_publishes(runtime) ? dw_python_layout_published(runtime, &python.layout)
	                                            : dw_python_layout_of(python_minor(), &python.layout);
	python.known &= python.thread != NULL;
	if (python.known) {
		python_find_loop();
		python_watch_code();
	} else {
		*lacks = "frames of this version of Python are not known; " DW_PYTHON_KNOWN;
	}
}

void dws_python_module(struct dws_stack *range)
{
	if (python.known)
		dws_cfi_module((uintptr_t)python.thread, range);
}

bool dws_python_is_loop(uintptr_t pc)
{
	return pc >= python.loop && pc < python.loop_end;
}

/* A frame that only marks where a call of the loop began lies in that call's native frame, from 3.12 on. */
static bool python_is_mark(struct dws_memory *memory, uintptr_t frame)
{
	return python.layout.owner != DW_PYTHON_NO_FIELD &&
	       python_byte(memory, frame + python.layout.owner) >= python.layout.least_loop;
}

static bool python_is_entry(struct dws_memory *memory, uintptr_t frame)
{
	return python.layout.minor < 11 || (python.layout.entry != DW_PYTHON_NO_FIELD &&
	                                    python_byte(memory, frame + python.layout.entry) != 0);
}

/* A field of four bytes; 0: it cannot be read. */
static uint32_t python_half(struct dws_memory *memory, uintptr_t at)
{
	return (uint32_t)(python_pointer(memory, at & ~(uintptr_t)7) >> 8 * (at & 4));
}

unsigned dws_python_walk(struct dws_memory *memory, struct dws_python_frame frames[DWS_WALKED])
{
	const struct dw_python_layout *layout = &python.layout;
	uintptr_t frame, loop = 0, thread;
	unsigned count = 0;

	if (!python.known || (python.is_finalizing && python.is_finalizing()))
		return 0;
	thread = (uintptr_t)python.thread();
	frame = thread ? python_pointer(memory, thread + layout->frame) : 0;
	if (frame && layout->loop_frame != DW_PYTHON_NO_FIELD) {
		loop = frame;
		frame = python_pointer(memory, frame + layout->loop_frame);
	}
	while (frame && frame % sizeof frame == 0 && count < DWS_WALKED) {
		if (python_is_mark(memory, frame)) {
			if (count && !frames[count - 1].last) {
				frames[count - 1].last = true;
				frames[count - 1].loop = frame;
			}
		} else {
			bool entry = python_is_entry(memory, frame);
			/* 3.14 marks references in the lowest bits. */
			uintptr_t code = python_pointer(memory, frame + layout->code) & ~(uintptr_t)7;
			uintptr_t instruction = layout->bytes == DW_PYTHON_NO_FIELD
			                            ? python_half(memory, frame + layout->instruction)
			                            : python_pointer(memory, frame + layout->instruction);

			if (!code)
				break;
			if (!dw_python_is_between(python_pointer(memory, code), (int32_t)python_half(memory, code + layout->first_line)))
				frames[count++] = (struct dws_python_frame){ code, instruction, entry ? loop : 0, entry };
			if (entry && loop && layout->outer_loop != DW_PYTHON_NO_FIELD)
				loop = python_pointer(memory, loop + layout->outer_loop);
		}
		frame = python_pointer(memory, frame + layout->previous);
	}
	return count;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* The part of a text that fits. A path that does not fit loses its beginning. */
#define MOST_TEXT 200u
#define CODE_BYTES 256u /* of a code object: all fields that are read */
#define MOST_LINES 4096u /* bytes of a table of lines that are read; of a longer one, the first */

static void python_text(uintptr_t object, bool is_path, char text[MOST_TEXT * 3 + 8])
{
	const struct dw_python_layout *layout = &python.layout;
	uint8_t bytes[80 + MOST_TEXT * 4];
	size_t got = dws_copy(bytes, object, sizeof bytes), used, at;
	uint64_t length;
	uint32_t state, kind;

	memcpy(text, "?", 2);
	if (got < 80)
		return;
	memcpy(&length, bytes + 16, sizeof length);
	memcpy(&state, bytes + 32, sizeof state);
	kind = state >> DW_PYTHON_KIND_BIT & 7;
	at = state >> (DW_PYTHON_KIND_BIT + 4) & 1 ? layout->text : layout->wide_text;
	if ((kind != 1 && kind != 2 && kind != 4) || !length || length > 1u << 20)
		return;
	if (length > MOST_TEXT) {
		object += is_path ? (length - MOST_TEXT) * kind : 0;
		length = MOST_TEXT;
		got = dws_copy(bytes, object, sizeof bytes);
	}
	if (at + length * kind > got)
		return;
	used = dw_python_utf8(bytes + at, kind, length, (uint8_t *)text, MOST_TEXT * 3 + 7);
	text[used] = '\0';
}

static uint64_t python_field(const uint8_t *code, uint32_t at)
{
	uint64_t value;

	memcpy(&value, code + at, sizeof value);
	return value;
}

static uint32_t python_line(const struct dws_python_frame *frame, const uint8_t *code)
{
	const struct dw_python_layout *layout = &python.layout;
	static uint8_t tables[2][32 + MOST_LINES];
	static uint32_t used[2]; /* atomic; a handler works in the table */
	uintptr_t table = python_field(code, layout->lines);
	int32_t first = (int32_t)python_field(code, layout->first_line), line = first;
	uint64_t size = 0;
	unsigned at = 0;
	size_t got;

	while (at < 2 && __atomic_exchange_n(&used[at], 1, __ATOMIC_ACQUIRE))
		at++;
	if (at == 2)
		return (uint32_t)first;
	/* Most tables are short. */
	got = dws_copy(tables[at], table, 32 + 224);
	if (got > 32)
		memcpy(&size, tables[at] + 16, sizeof size);
	size = size < MOST_LINES ? size : MOST_LINES;
	if (size && got < 32 + size)
		got = dws_copy(tables[at], table, 32 + size);
	if (size && got >= 32 + size)
		line = layout->bytes != DW_PYTHON_NO_FIELD
		           ? dw_python_line_of_unit(tables[at] + 32, size, first,
		                                    (int64_t)(frame->instruction - (frame->code + layout->bytes)) / 2)
		           : dw_python_line_of_byte(tables[at] + 32, size, first,
		                                    (int64_t)frame->instruction * (layout->minor >= 10 ? 2 : 1), layout->minor >= 10);
	__atomic_store_n(&used[at], 0, __ATOMIC_RELEASE);
	return line > 0 ? (uint32_t)line : 0;
}

uint32_t dws_python_intern(const struct dws_python_frame *frame)
{
	char function[MOST_TEXT * 3 + 8], file[MOST_TEXT * 3 + 8];
	uint8_t code[CODE_BYTES];

	/* A frame that is being made or cleared may have anything there. */
	if (dws_copy(code, frame->code, sizeof code) < python.layout.lines + 8 ||
	    python_field(code, 8) != (uintptr_t)python.code_type)
		return dws_recorder->intern_frame("?", NULL, 0);
	python_text(python_field(code, python.layout.name), false, function);
	python_text(python_field(code, python.layout.file), true, file);
	return dws_recorder->intern_frame(function, file, python_line(frame, code));
}
