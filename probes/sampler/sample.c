/*
 * One sample: the native frames of the interrupted thread, frames of Python in place of the calls of the
 * interpreter's loop, and the id of the whole.
 *
 * A walk asks the unwind tables once for each place in code and keeps the rule by its address. Without tables (code
 * made at run time, another C library) the frame pointer is followed where it leads up the stack. If that fails in the
 * innermost function, the words above the stack pointer are searched for a return address: one that follows a call
 * instruction in code with tables.
 *
 * On the thread's own stack all memory is mapped from the stack pointer up. On any other stack (of a coroutine, of
 * signal handlers) each page is tried first, and so is code before it is read.
 *
 * Callers that were seen before are found by the hash of their places. All of this runs on a stack of this library
 * (apart.c), which has space for the arrays.
 */
#include "sampler.h"

#include <string.h>

#include "format/keys.h"

#define RULES 16384u
#define FRAME_IDS 16384u
#define STACK_IDS 16384u
#define MOST_STACKS 65536u     /* of a process that are told apart by all of their frames; later ones by the inner frames */
#define LATER_FRAMES 12u
#define SEARCHED_WORDS 256u
#define CALL_ON_BYTES 64u      /* of dws_call_on(), at most */
#define GAP 1u                 /* in place of an address: frames that were left out */
#define INNER_OF_DEEP 64u      /* frames of a deep stack before the gap */

struct native_frame {
	uintptr_t pc;  /* the place; of a caller: its return address - 1 */
	uintptr_t end; /* address where the frame ends */
};

/* A frame of either kind. */
struct frame {
	uint64_t key;                          /* identifies the place in code */
	const struct dws_python_frame *python; /* NULL: native, and the key is its pc */
};

struct work {
	struct native_frame native[DWS_WALKED];
	struct dws_python_frame python[DWS_WALKED];
	struct frame frames[2 * DWS_WALKED + DWS_KERNEL_FRAMES];
	uint32_t ids[DWS_FRAMES];
	void *unknown[DWS_FRAMES]; /* return addresses of native frames without an id, */
	uint8_t unknown_at[DWS_FRAMES]; /* and their places in `ids` */
	unsigned native_count, python_count, count;
};

static struct dws_pair rules[RULES], frame_ids[FRAME_IDS], stack_ids[STACK_IDS];
static uint32_t stacks_seen; /* atomic */
static uint32_t generation;  /* atomic; the recorder's code_generation when the tables above were emptied */

/* ---- rules that are known ------------------------------------------------------------------ */

static uint64_t sample_pack(struct dws_rule rule)
{
	return (uint64_t)rule.end | (uint64_t)rule.saves_fp << 3 | (uint64_t)rule.fp_at_fp << 4 |
	       (uint64_t)rule.returns_in_register << 5 | 1u << 6 | (uint64_t)((uint32_t)rule.end_offset & 0x3ffffff) << 7 |
	       (uint64_t)(uint16_t)rule.fp_offset << 33 | (uint64_t)((uint16_t)rule.return_offset & 0x7fff) << 49;
}

static inline __attribute__((always_inline)) struct dws_rule sample_unpack(uint64_t packed)
{
	return (struct dws_rule){
		.end = packed & 7,
		.saves_fp = packed >> 3 & 1,
		.fp_at_fp = packed >> 4 & 1,
		.returns_in_register = packed >> 5 & 1,
		.end_offset = (int32_t)((uint32_t)(packed >> 7) << 6) >> 6,
		.fp_offset = (int16_t)(packed >> 33),
		.return_offset = (int16_t)((int16_t)(packed >> 49 << 1) >> 1),
	};
}

static uint64_t sample_rule(uintptr_t pc)
{
	struct dws_pair *pair = &rules[dws_sampler_hash(1, pc) % RULES];
	uint64_t packed = dws_pair_get(pair, pc);

	if (DWELL_UNLIKELY(!packed)) {
		struct dws_rule rule = dws_cfi_find(pc);

		if (rule.end_offset != (int32_t)((uint32_t)rule.end_offset << 6) >> 6)
			rule.end = DWS_END_UNKNOWN;
		packed = sample_pack(rule);
		dws_pair_set(pair, pc, packed);
	}
	return packed;
}

/* The rules of a thread's last walk. Most callers are still where they were, and the table above is too large for the
 * processor's caches. */
struct walked {
	uint32_t generation; /* of the tables above */
	unsigned count;
	struct {
		uintptr_t sp, pc;
		uint64_t rule;
	} at[DWS_FRAMES]; /* the inner frames of a deep stack */
};

/* By the thread's stack. Two threads may have the same one, and then look into the table above more often. */
#define WALKS 64u
static struct lately {
	uint32_t newest;
	struct walked walks[2];
} lately[WALKS];
static uint32_t busy[WALKS]; /* atomic; a thread walks, or a handler interrupted it there. Apart, for dws_sample_forked(). */

/* ---- the walk ------------------------------------------------------------------------------ */

struct walk {
	struct dws_memory memory;
	uintptr_t pc, sp, fp, link; /* link: aarch64's register of the return address */
	bool own;                   /* the stack pointer is on the thread's own stack */
};

static bool sample_word(struct walk *walk, uintptr_t at, uintptr_t *word)
{
	const volatile uintptr_t *there;

	if (at % sizeof *word || (walk->own && (at < walk->sp || at >= walk->memory.high)))
		return false;
	there = walk->own ? (const void *)at : dws_word(&walk->memory, at);
	if (!there)
		return false;
	*word = *there;
	return true;
}

/* A return address without the signature of aarch64's pointer authentication. */
static uintptr_t sample_strip(uintptr_t address)
{
#ifdef __aarch64__
	return address & (((uintptr_t)1 << 48) - 1);
#else
	return address;
#endif
}

static void sample_registers(struct walk *walk, const ucontext_t *context)
{
#ifdef __x86_64__
	walk->pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	walk->sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
	walk->fp = (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
	walk->link = 0;
#else
	walk->pc = context->uc_mcontext.pc;
	walk->sp = context->uc_mcontext.sp;
	walk->fp = context->uc_mcontext.regs[29];
	walk->link = sample_strip(context->uc_mcontext.regs[30]);
#endif
}

/* Whether it is dws_call_on(), whose caller is on another stack. */
static bool sample_changes_stack(uintptr_t pc)
{
	return pc - (uintptr_t)dws_call_on < CALL_ON_BYTES;
}

/* Goes to the caller by the rule of the frame's code. False: the rule does not lead there. */
static bool sample_step(struct walk *walk, struct dws_rule rule, uintptr_t *end)
{
	uintptr_t at, next_fp = walk->fp, address = walk->link;

	switch ((enum dws_frame_end)rule.end) {
	case DWS_END_SP: *end = walk->sp + (uintptr_t)(intptr_t)rule.end_offset; break;
	case DWS_END_FP: *end = walk->fp + (uintptr_t)(intptr_t)rule.end_offset; break;
	case DWS_END_AT_FP:
		if (!sample_word(walk, walk->fp + (uintptr_t)(intptr_t)rule.end_offset, end))
			return false;
		break;
	default: return false;
	}
	if (*end <= walk->sp && !rule.returns_in_register && !sample_changes_stack(walk->pc))
		return false;
	at = (rule.fp_at_fp ? walk->fp : *end) + (uintptr_t)(intptr_t)rule.fp_offset;
	if (rule.saves_fp && !sample_word(walk, at, &next_fp))
		return false;
	if (!rule.returns_in_register && !sample_word(walk, *end + (uintptr_t)(intptr_t)rule.return_offset, &address))
		return false;
	walk->pc = sample_strip(address);
	walk->fp = next_fp;
	walk->sp = *end;
	walk->link = 0;
	return walk->pc != 0;
}

/* Goes to the caller of code without tables that has a call as its last work: the instructions behind the call free the
 * frame and return, as in Python's trampolines for perf. */
static bool sample_step_return(struct walk *walk, uintptr_t *end)
{
#ifdef __x86_64__
	uint8_t at[5];
	uintptr_t address;

	/* add $n, %rsp; ret */
	if (dws_copy(at, walk->pc, sizeof at) < sizeof at ||
	    at[0] != 0x48 || at[1] != 0x83 || at[2] != 0xc4 || at[3] > 0x78 || at[4] != 0xc3 ||
	    !sample_word(walk, walk->sp + at[3], &address))
		return false;
	*end = walk->sp + at[3] + sizeof address;
	walk->sp = *end;
	walk->pc = address;
	return true;
#else
	return false;
#endif
}

/* Goes to what a signal interrupted: the kernel has stored the registers above the handler's frame, and the handler returns to
 * instructions that are always the same. */
static bool sample_step_signal(struct walk *walk, uintptr_t *end)
{
#ifdef __x86_64__
	static const uint8_t returns[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }; /* rt_sigreturn() */
	uintptr_t at = walk->sp + offsetof(ucontext_t, uc_mcontext.gregs), pc, sp, fp;
	uint8_t code[sizeof returns];

	if (dws_copy(code, walk->pc, sizeof code) < sizeof code || memcmp(code, returns, sizeof code) != 0)
		return false;
	walk->own = false; /* the interrupted function may be on any stack */
	if (!sample_word(walk, at + REG_RIP * sizeof pc, &pc) || !sample_word(walk, at + REG_RSP * sizeof sp, &sp) ||
	    !sample_word(walk, at + REG_RBP * sizeof fp, &fp) || pc < 4096)
		return false;
	*end = walk->sp;
	walk->pc = pc + 1; /* of other callers it is where they go on */
	walk->sp = sp;
	walk->fp = fp;
	walk->link = 0;
	return true;
#else
	return false;
#endif
}

/* Goes to what a signal interrupted, if its handler is about to begin: two signals came at once, and the sampler's is the
 * second one. */
static bool sample_step_begun(struct walk *walk, uintptr_t *end)
{
	struct walk within = *walk;

	if (!sample_word(walk, walk->sp, &within.pc) || within.pc < 4096)
		return false;
	within.sp += sizeof within.pc;
	if (!sample_step_signal(&within, end))
		return false;
	*walk = within;
	return true;
}

/* Goes to the caller by the frame pointer. */
static bool sample_step_pointer(struct walk *walk, uintptr_t *end)
{
	uintptr_t next, address;

	if (walk->fp < walk->sp || walk->fp - walk->sp > (1u << 20) || !sample_word(walk, walk->fp, &next) ||
	    !sample_word(walk, walk->fp + sizeof next, &address) || address < 4096)
		return false;
	*end = walk->fp + 2 * sizeof next;
	walk->sp = *end;
	walk->fp = next;
	walk->pc = sample_strip(address);
	walk->link = 0;
	return true;
}

/* The code may be of a library that was unloaded since its rule was found. */
static bool sample_follows_call(uintptr_t address)
{
#ifdef __x86_64__
	uint8_t before[7];
	const uint8_t *at = before + sizeof before;

	/* E8 and four bytes; or FF and an operand of one to six bytes whose middle bits are 2 */
	return dws_copy(before, address - sizeof before, sizeof before) == sizeof before &&
	       (at[-5] == 0xe8 || (at[-2] == 0xff && (at[-1] & 0x38) == 0x10) || (at[-3] == 0xff && (at[-2] & 0x38) == 0x10) ||
	        (at[-6] == 0xff && (at[-5] & 0x38) == 0x10) || (at[-7] == 0xff && (at[-6] & 0x38) == 0x10));
#else
	uint32_t before;

	return dws_copy(&before, address - 4, sizeof before) == sizeof before &&
	       (before >> 26 == 0x25 || (before & 0xfffffc1f) == 0xd63f0000);
#endif
}

/* Searches the stack for the caller of code without tables. */
static bool sample_step_search(struct walk *walk, uintptr_t *end)
{
	for (uintptr_t i = 0; i < SEARCHED_WORDS; i++) {
		uintptr_t at = (walk->sp & ~(sizeof at - 1)) + i * sizeof at, address;

		if (!sample_word(walk, at, &address))
			return false;
		address = sample_strip(address);
		if (address > 4096 && sample_unpack(sample_rule(address - 1)).end != DWS_END_UNKNOWN && sample_follows_call(address)) {
			*end = at + sizeof at;
			walk->sp = *end;
			walk->pc = address;
			walk->link = 0;
			return true;
		}
	}
	return false;
}

/* Walks to the outermost frame. `old` and `now`: the thread's last walk and this one, or NULL. */
static void sample_walk_by(struct work *work, struct walk *walk, const struct walked *old, struct walked *now)
{
	uintptr_t pc = walk->pc;
	unsigned count = 0, next = 0;

	while (count < DWS_WALKED) {
		struct native_frame *frame = &work->native[count];
		struct dws_rule rule;
		uint64_t packed;
		bool moved;

		while (old && next < old->count && old->at[next].sp < walk->sp)
			next++;
		packed = old && next < old->count && old->at[next].sp == walk->sp && old->at[next].pc == pc ? old->at[next].rule
		                                                                                           : sample_rule(pc);
		if (now && count < DWS_FRAMES) {
			now->at[count].sp = walk->sp;
			now->at[count].pc = pc;
			now->at[count].rule = packed;
		}
		count++;
		rule = sample_unpack(packed);
		frame->pc = pc;
		frame->end = UINTPTR_MAX;
		if (rule.end == DWS_END_OUTERMOST)
			break;
		moved = sample_step(walk, rule, &frame->end);
		if (!moved && rule.end == DWS_END_UNKNOWN && count == 1 && sample_step_begun(walk, &frame->end)) {
			count = 0; /* the thread has done nothing in it */
			moved = true;
		}
		if (!moved && rule.end == DWS_END_UNKNOWN)
			moved = (count > 1 && (sample_step_signal(walk, &frame->end) || sample_step_return(walk, &frame->end))) ||
			        sample_step_pointer(walk, &frame->end) || (count == 1 && sample_step_search(walk, &frame->end));
		if (!moved || walk->pc < 4096)
			break;
		pc = walk->pc - 1;
	}
	work->native_count = count;
	if (now)
		now->count = count < DWS_FRAMES ? count : DWS_FRAMES;
}

static void sample_walk(struct work *work, struct walk *walk, const struct dws_stack *stack)
{
	size_t place = dws_sampler_hash(9, stack->high) % WALKS;
	struct lately *mine = &lately[place];
	uint32_t current = __atomic_load_n(&generation, __ATOMIC_RELAXED);
	const struct walked *old;
	struct walked *now;

	/* Pairs with the release below: the last walk is complete. */
	if (__atomic_exchange_n(&busy[place], 1, __ATOMIC_ACQUIRE)) {
		sample_walk_by(work, walk, NULL, NULL);
		return;
	}
	old = &mine->walks[mine->newest];
	now = &mine->walks[!mine->newest];
	now->generation = current;
	sample_walk_by(work, walk, old->generation == current ? old : NULL, now);
	mine->newest = !mine->newest;
	__atomic_store_n(&busy[place], 0, __ATOMIC_RELEASE);
}

/* ---- ids ----------------------------------------------------------------------------------- */

/* Whether a native frame is the call of the interpreter's loop that executes the frame `next` of Python. From 3.11 on
 * a record of the loop lies in its native frame. */
static bool sample_is_loop(const struct work *work, unsigned native, unsigned next)
{
	uintptr_t loop, from = native ? work->native[native - 1].end : 0;

	while (next < work->python_count && !work->python[next].last)
		next++;
	if (next == work->python_count)
		return false;
	loop = work->python[next].loop;
	return loop ? loop >= from && loop < work->native[native].end : dws_python_is_loop(work->native[native].pc);
}

static void sample_add_python(struct work *work, const struct dws_python_frame *python)
{
	work->frames[work->count++] = (struct frame){ dws_python_key(python), python };
}

/* The linker's: where this library begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* The linker's: begin and end of the functions in front of libc's. */
extern const char __start_dws_fronts[] __attribute__((weak, visibility("hidden")));
extern const char __stop_dws_fronts[] __attribute__((weak, visibility("hidden")));

enum { NOT_OWN, FRONT, OWN_WORK };

/* Whether a frame is of this library: one of DWS_FRONT, between the program's functions, or the library's own work. */
static int sample_is_own(uintptr_t pc)
{
	if (DWELL_LIKELY(pc - (uintptr_t)__ehdr_start >= (uintptr_t)(_end - __ehdr_start)))
		return NOT_OWN;
	return pc - (uintptr_t)__start_dws_fronts < (uintptr_t)(__stop_dws_fronts - __start_dws_fronts) ? FRONT : OWN_WORK;
}

/* All frames: those of Python in place of the calls of the loop that execute them. */
static void sample_join(struct work *work)
{
	bool after_loop = false;
	unsigned next = 0;

	work->count = 0;
	for (unsigned i = 0; i < work->native_count; i++) {
		int own = i + 1 < work->native_count || work->count ? sample_is_own(work->native[i].pc) : NOT_OWN;

		if (own == OWN_WORK && i + 1 < work->native_count)
			work->count = 0;
		if (own)
			continue;
		/* With `python -X perf` code that was made at run time calls the loop, under the name of the function that the
		 * loop executes. */
		if (after_loop && sample_unpack(sample_rule(work->native[i].pc)).end == DWS_END_UNKNOWN) {
			after_loop = false;
			continue;
		}
		after_loop = next < work->python_count && sample_is_loop(work, i, next);
		if (!after_loop) {
			work->frames[work->count++] = (struct frame){ work->native[i].pc, NULL };
			continue;
		}
		while (next < work->python_count) {
			sample_add_python(work, &work->python[next]);
			if (work->python[next++].last)
				break;
		}
	}
	while (next < work->python_count) /* the native stack ended early */
		sample_add_python(work, &work->python[next++]);
}

/* Fills in the ids of `count` frames, at most DWS_FRAMES. False: one could not be stored. */
static bool sample_ids(struct work *work, const struct frame *frames, unsigned count)
{
	uint32_t found[DWS_FRAMES];
	unsigned unknown = 0;

	for (unsigned i = 0; i < count; i++) {
		work->ids[i] = (uint32_t)dws_pair_get(&frame_ids[frames[i].key % FRAME_IDS], frames[i].key);
		if (!work->ids[i] && frames[i].key == GAP) {
			if (!(work->ids[i] = dws_recorder->intern_frame(DW_FRAMES_LEFT_OUT, NULL, 0)))
				return false;
			dws_pair_set(&frame_ids[GAP], GAP, work->ids[i]);
			continue;
		}
		if (!work->ids[i] && frames[i].python) {
			if (!(work->ids[i] = dws_python_intern(frames[i].python)))
				return false;
			dws_pair_set(&frame_ids[frames[i].key % FRAME_IDS], frames[i].key, work->ids[i]);
		} else if (!work->ids[i]) {
			work->unknown[unknown] = (void *)((uintptr_t)frames[i].key + 1);
			work->unknown_at[unknown++] = (uint8_t)i;
		}
	}
	if (unknown && !dws_recorder->intern_code(work->unknown, unknown, found))
		return false;
	for (unsigned i = 0; i < unknown; i++) {
		uint64_t key = frames[work->unknown_at[i]].key;

		work->ids[work->unknown_at[i]] = found[i];
		dws_pair_set(&frame_ids[key % FRAME_IDS], key, found[i]);
	}
	return true;
}

/* Addresses may belong to other code after a library was unloaded. */
static void sample_forget_if_unloaded(void)
{
	uint32_t now = __atomic_load_n(dws_recorder->code_generation, __ATOMIC_ACQUIRE);

	if (DWELL_LIKELY(__atomic_load_n(&generation, __ATOMIC_RELAXED) == now))
		return;
	__atomic_store_n(&generation, now, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < RULES; i++)
		dws_pair_set(&rules[i], 0, 0);
	for (unsigned i = 0; i < FRAME_IDS; i++)
		dws_pair_set(&frame_ids[i], 0, 0);
	for (unsigned i = 0; i < STACK_IDS; i++)
		dws_pair_set(&stack_ids[i], 0, 0);
	dws_cfi_forget();
}

/* The id of the innermost frame. It is apart from its callers, because its place differs from sample to sample. */
static uint32_t sample_innermost(struct work *work)
{
	uint64_t key = work->frames[0].key;
	uint32_t id = (uint32_t)dws_pair_get(&frame_ids[key % FRAME_IDS], key);

	if (id)
		return id;
	return sample_ids(work, work->frames, 1) ? work->ids[0] : 0;
}

/* Of a deep stack the callers without the interpreter's functions between two frames of Python. Returns how many are left. */
static unsigned sample_drop_interpreter(struct frame *frames, unsigned count)
{
	struct dws_stack interpreter = { 0, 0 };
	unsigned last = count, left = 0;
	bool inner = false;

	dws_python_module(&interpreter);
	while (last && !frames[last - 1].python)
		last--;
	for (unsigned i = 0; i < count; i++) {
		uintptr_t pc = (uintptr_t)frames[i].key;

		inner |= frames[i].python != NULL;
		if (!inner || i >= last || frames[i].python || pc < interpreter.low || pc >= interpreter.high)
			frames[left++] = frames[i];
	}
	return left;
}

/* Both ends of the callers of a deep stack, with a mark between them. Returns how many there are: at most `most`. */
static unsigned sample_shorten(struct frame *frames, unsigned count, unsigned most)
{
	unsigned inner = most > 2 * INNER_OF_DEEP - 1 ? INNER_OF_DEEP : most / 2, outer = most - inner - 1;

	if (count <= most)
		return count;
	frames[inner] = (struct frame){ GAP, NULL };
	memmove(frames + inner + 1, frames + count - outer, outer * sizeof *frames);
	return most;
}

/* The id of the callers' stack. */
static uint32_t sample_callers(struct work *work)
{
	unsigned count = work->count - 1;
	struct frame *frames = work->frames + 1;
	struct dws_pair *pair;
	uint64_t hash = 5;
	uint32_t id;

	if (count > DWS_FRAMES)
		count = sample_shorten(frames, sample_drop_interpreter(frames, count), DWS_FRAMES);
	for (unsigned i = 0; i < count; i++)
		hash = dws_sampler_hash(hash, frames[i].key);
	pair = &stack_ids[hash % STACK_IDS];
	id = (uint32_t)dws_pair_get(pair, hash);
	if (DWELL_LIKELY(id) || !count)
		return id;
	if (__atomic_fetch_add(&stacks_seen, 1, __ATOMIC_RELAXED) >= MOST_STACKS)
		count = sample_shorten(frames, count, LATER_FRAMES);
	id = sample_ids(work, frames, count) ? dws_recorder->intern_stack(work->ids, count) : 0;
	if (id)
		dws_pair_set(pair, hash, id);
	return id;
}

/* ---- the sample ----------------------------------------------------------------------------- */

/* Walks from there, and joins the frames of both kinds. */
static void sample_gather(struct work *work, struct walk *walk, const struct dws_stack *stack)
{
	sample_forget_if_unloaded();
	walk->own = walk->sp >= stack->low && walk->sp < stack->high;
	if (walk->own) {
		walk->memory.low = walk->sp;
		walk->memory.high = stack->high;
	}
	sample_walk(work, walk, stack);
	work->python_count = dws_python_walk(&walk->memory, work->python);
	sample_join(work);
}

void dws_sample_forked(void)
{
	dws_clear(busy, sizeof busy);
}

/* A stack begins with the kernel's functions: the program's innermost function has called them. */
static void sample_add_kernel(struct work *work, const struct dws_kernel *kernel)
{
	memmove(work->frames + kernel->count, work->frames, work->count * sizeof *work->frames);
	work->count += kernel->count;
	for (unsigned i = 0; i < kernel->count; i++)
		work->frames[i] = (struct frame){ kernel->places[i], NULL };
}

bool dws_sample(const ucontext_t *context, const struct dws_stack *stack, const struct dws_kernel *kernel, uint32_t weight)
{
	struct walk walk = { .own = false };
	struct work work;
	uint32_t frame;

	if (!dws_sampler_records())
		return true;
	sample_registers(&walk, context);
	sample_gather(&work, &walk, stack);
	sample_add_kernel(&work, kernel);
	frame = sample_innermost(&work);
	return dws_recorder->sample(frame, sample_callers(&work), weight);
}

uint32_t dws_stack_from(const struct dws_here *here, const struct dws_stack *stack, const void *caller)
{
	struct walk walk = { .pc = here->pc, .sp = here->sp, .fp = here->fp };
	struct work work;
	unsigned own = 0;

	sample_gather(&work, &walk, stack);
	/* Frames without unwind tables may be left of this library. They end where the wrapped function returns to. */
	while (own < work.count && work.frames[own].key != (uintptr_t)caller - 1)
		own++;
	if (own == work.count)
		return 0;
	work.count -= own;
	memmove(work.frames + 1, work.frames + own, work.count++ * sizeof *work.frames);
	return sample_callers(&work);
}
