/* Counts the bytes of large blocks that a process allocates, when preloaded before the C library (glibc).
 *
 * memory_reset() starts anew; memory_read() gives the bytes allocated since, and the most that were
 * held at once, less what was held at the reset.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static const size_t LARGE = 1 << 16;
static atomic_long total, live, peak, base;

static void add(size_t size) {
    if (size < LARGE) return;
    atomic_fetch_add(&total, (long)size);
    long now = atomic_fetch_add(&live, (long)size) + (long)size, most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {}
}

static void drop(size_t size) {
    if (size >= LARGE) atomic_fetch_sub(&live, (long)size);
}

static void *added(void *block) {
    if (block) add(malloc_usable_size(block));
    return block;
}

void memory_reset(void) {
    atomic_store(&total, 0);
    atomic_store(&base, atomic_load(&live));
    atomic_store(&peak, atomic_load(&live));
}

void memory_read(long *out) {
    out[0] = atomic_load(&total);
    out[1] = atomic_load(&peak) - atomic_load(&base);
}

void *malloc(size_t size) { return added(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return added(__libc_calloc(count, size)); }
void *memalign(size_t alignment, size_t size) { return added(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return added(__libc_memalign(alignment, size)); }

int posix_memalign(void **place, size_t alignment, size_t size) {
    *place = added(__libc_memalign(alignment, size));
    return *place ? 0 : ENOMEM;
}

void free(void *block) {
    if (block) drop(malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    if (block) drop(malloc_usable_size(block));
    return added(__libc_realloc(block, size));
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    void *block = (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
    if (block != MAP_FAILED && (flags & MAP_ANONYMOUS) && (protection & PROT_WRITE)) add(size);
    return block;
}
