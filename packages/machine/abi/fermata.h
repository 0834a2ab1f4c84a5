/* The boundary between a guest (an interpreter compiled to WASI) and its host.
 *
 * A guest exports `_start` and never returns from it while a program is alive. It leaves the machine in only two
 * places, both of which the host may turn into a stop (Asyncify unwinds from there and rewinds to there):
 *
 *   checkpoint  the fuel word went below zero
 *   exchange    the guest has nothing left to run and hands the host a message; the reply is the answer to it
 *
 * Everything else that crosses is one-way and immediate. Messages are values in the form of values.h.
 */
#ifndef FERMATA_H
#define FERMATA_H
#include <stdint.h>
#include <stddef.h>

#define FERMATA_ABI_VERSION 1
#define FERMATA_IMPORT(name) __attribute__((import_module("fermata"), import_name(name)))
#define FERMATA_EXPORT(name) __attribute__((export_name(name), used))

/* Words that the host reads and writes directly. The first FERMATA_MASKED bytes are the host's (fuel, and the place
 * that `fermata_locate` found): they depend on how the run was sliced, and so are left out of the state hash. */
struct fermata_status {
  int32_t fuel;        /* units left; a check is: if (--fuel < 0) fermata_checkpoint() */
  uint32_t line;       /* 1-based line of the user's code, 0 if none; written by fermata_locate */
  uint32_t column;     /* 1-based, 0 if unknown */
  uint32_t reserved;
  /* --- below: the guest's own state, hashed --- */
  uint32_t nosuspend;  /* > 0: a stop is not possible here; checkpoint refills without stopping */
  uint32_t memory_refused; /* how often fermata_grow answered -1 */
};
#define FERMATA_MASKED 16
extern struct fermata_status fermata_status;

/* Suspendable imports (the only two names in asyncify-imports). */
FERMATA_IMPORT("checkpoint") void fermata_import_checkpoint(void);
FERMATA_IMPORT("exchange") uint32_t fermata_import_exchange(const void *message, uint32_t length);

/* Copies the reply that `exchange` gave the length of. Called exactly once after each exchange. */
FERMATA_IMPORT("take") void fermata_import_take(void *buffer);

/* One-way, never suspends. */
enum fermata_emit_kind {
  FERMATA_EMIT_STDOUT = 1, /* bytes */
  FERMATA_EMIT_STDERR = 2, /* bytes */
  FERMATA_EMIT_CALL = 3,   /* value {id, name, args}: a tool call starts now; ids are 1, 2, 3 ... */
  FERMATA_EMIT_NOTE = 4,   /* value {note: "step"|"step_result"|"progress"|"checkpoint"|"finding", ...} */
};
FERMATA_IMPORT("emit") void fermata_import_emit(uint32_t kind, const void *data, uint32_t length);

/* memory.grow by way of the host: the old size in pages, or -1 when the task's limit does not allow it. */
FERMATA_IMPORT("grow") int32_t fermata_import_grow(uint32_t pages);

/* abi.c */
void fermata_checkpoint(void);
#define FERMATA_FUEL(units)                                             \
  do {                                                                  \
    if (__builtin_expect((fermata_status.fuel -= (units)) < 0, 0))      \
      fermata_checkpoint();                                             \
  } while (0)

/* The Asyncify stack: {current, end} as Asyncify wants it, then the room itself. */
#ifndef FERMATA_UNWIND_BYTES
#define FERMATA_UNWIND_BYTES (1u << 20)
#endif
/* A stack of its own for fermata_locate, so that looking leaves no trace on the guest's. */
#define FERMATA_LOCATE_STACK_BYTES 16384

/* Exported as an address, like fermata_status, fermata_unwind and fermata_locate_stack. */
extern const uint32_t fermata_layout[4];

/* Each guest defines this: find the innermost line of the user's code and write it to fermata_status. It reads only;
 * it must not allocate, call the interpreter, or suspend. The host calls it with the locate stack in place. */
void fermata_locate(void);
#endif
