/* memcpy, memmove and memset as the instructions that there are for them. The C library's copy word by word, which is
 * felt when a large array grows. */
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
void *memmove(void *to, const void *from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
