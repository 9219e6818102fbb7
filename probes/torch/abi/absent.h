/*
 * The inline functions of abi.h for a build with torch_abi=disabled, which reads no memory of
 * PyTorch: each one answers that nothing is known.
 *
 * Only abi.h includes it.
 */
#pragma once

static inline const char *dwp_abi_static_name(const char *function, size_t *length)
{
	return NULL;
}

static inline bool dwp_abi_has_sequences(void)
{
	return false;
}

static inline uint64_t dwp_abi_sequence(const char *function)
{
	return DWP_ABI_NO_SEQUENCE;
}

static inline bool dwp_abi_made_node(uint64_t sequence)
{
	return false;
}

static inline bool dwp_abi_has_threads(void)
{
	return false;
}

static inline uint64_t dwp_abi_thread(const char *function)
{
	return 0;
}

static inline uint64_t dwp_abi_forward_thread(const char *function)
{
	return 0;
}

static inline uint16_t dwp_abi_dtype(const void *tensor)
{
	return DWELL_DTYPE_NONE;
}

static inline bool dwp_abi_has_inputs(void)
{
	return false;
}

static inline uint64_t dwp_abi_hash_inputs(const char *function, uint64_t seed, bool integers)
{
	return 0;
}
