/* Allocation for the engine. Guarantees that running out of memory stays an ordinary exception: a reserve, given back
 * to the heap at the first refusal, leaves room to make the error and to unwind. */
#include "guest.h"
#include <malloc.h>

enum { RESERVE_BYTES = 96 * 1024, FREES_BETWEEN_TRIES = 256 };
static void *reserve;
static uint32_t frees;

static void refill(void) {
    if (reserve || ++frees % FREES_BETWEEN_TRIES) return;
    reserve = malloc(RESERVE_BYTES);
}

static void release(void) {
    free(reserve);
    reserve = NULL;
}

static void *allocate(void *opaque, size_t size) {
    void *p = malloc(size);
    if (!p) release();
    return p;
}

static void *allocate_zeroed(void *opaque, size_t count, size_t size) {
    void *p = calloc(count, size);
    if (!p) release();
    return p;
}

static void *reallocate(void *opaque, void *old, size_t size) {
    if (size == 0) {
        free(old);
        return NULL;
    }
    void *p = realloc(old, size);
    if (!p) release();
    return p;
}

static void deallocate(void *opaque, void *p) {
    if (p) memset(p, 0, malloc_usable_size(p)); /* as the engine does with small blocks */
    free(p);
    refill();
}

static size_t usable_size(const void *p) { return malloc_usable_size((void *)p); }

const JSMallocFunctions memory_functions = {allocate_zeroed, allocate, deallocate, reallocate, usable_size};
