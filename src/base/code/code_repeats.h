/* Whether code is executed again and again within one call of its function, for x86-64 and aarch64. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a jump of the function leads back over the place. `code` is the function, of `bytes` bytes; an instruction begins at
 * `at`, or lies there. */
bool dw_code_repeats(const uint8_t *code, size_t bytes, size_t at);
