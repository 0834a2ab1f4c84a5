#include "fermata.h"
#include <errno.h>

struct fermata_status fermata_status = {.fuel = 0x7fffffff};

struct {
  uint32_t current, end;
  uint8_t room[FERMATA_UNWIND_BYTES];
} fermata_unwind __attribute__((aligned(4096)));

/* What the host must know of this build: version of this boundary, then sizes. */
const uint32_t fermata_layout[4] = {FERMATA_ABI_VERSION, FERMATA_UNWIND_BYTES, FERMATA_LOCATE_STACK_BYTES, FERMATA_MASKED};

uint8_t fermata_locate_stack[FERMATA_LOCATE_STACK_BYTES] __attribute__((aligned(4096)));

/* No frame on the shadow stack and no branch of its own: the host decides. It reads `nosuspend` itself. */
__attribute__((noinline)) void fermata_checkpoint(void) { fermata_import_checkpoint(); }

FERMATA_EXPORT("fermata_locate") void fermata_locate_export(void) { fermata_locate(); }

/* Replaces wasi-libc's: the only place from which a guest's memory grows. */
void *sbrk(intptr_t increment) {
  if (increment == 0) return (void *)(__builtin_wasm_memory_size(0) * 65536);
  if (increment < 0 || (increment & 65535)) { errno = EINVAL; return (void *)-1; }
  int32_t old = fermata_import_grow((uint32_t)increment / 65536);
  if (old < 0) { fermata_status.memory_refused++; errno = ENOMEM; return (void *)-1; }
  return (void *)((uintptr_t)old * 65536);
}
