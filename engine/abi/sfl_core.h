/* Of the C interface between worker and engine: what every call uses, and making an engine. See
 * superfluid_engine.h, which authors include. */
#ifndef SUPERFLUID_ENGINE_ABI_SFL_CORE_H_
#define SUPERFLUID_ENGINE_ABI_SFL_CORE_H_

/* The checks of C++ code do not fit a C header. NOLINTBEGIN */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SFL_ABI_VERSION 3u
#define SFL_ENTRY_SYMBOL "superfluid_engine_entry"

#if defined(__GNUC__)
#define SFL_EXPORT __attribute__((visibility("default")))
#else
#define SFL_EXPORT
#endif

/* Limits on what a plug-in hands over; those of a topic are in its header. */
#define SFL_MAX_OUTPUT_BYTES ((size_t)1 << 20) /* an sfl_output, unless said otherwise */
#define SFL_MAX_LOG_BYTES ((size_t)8192)       /* longer messages are cut              */

/* The canonical status codes, with the numbers that absl and gRPC give them. */
typedef int32_t sfl_status;
enum {
  SFL_OK = 0,
  SFL_CANCELLED = 1,
  SFL_UNKNOWN = 2,
  SFL_INVALID_ARGUMENT = 3,
  SFL_DEADLINE_EXCEEDED = 4,
  SFL_NOT_FOUND = 5,
  SFL_ALREADY_EXISTS = 6,
  SFL_PERMISSION_DENIED = 7,
  SFL_RESOURCE_EXHAUSTED = 8, /* out of memory, too many jobs */
  SFL_FAILED_PRECONDITION = 9,
  SFL_ABORTED = 10,
  SFL_OUT_OF_RANGE = 11,
  SFL_UNIMPLEMENTED = 12,
  SFL_INTERNAL = 13,
  SFL_UNAVAILABLE = 14,
  SFL_DATA_LOSS = 15
};

typedef struct sfl_engine sfl_engine; /* the plug-in's own */

typedef struct sfl_string {
  const char* data; /* may be NULL if size is 0 */
  size_t size;
} sfl_string;

/* Room for an error message, owned by the caller. The callee writes at most `capacity` bytes, the
 * last of them a NUL. Any callee accepts a NULL sfl_error. */
typedef struct sfl_error {
  char* message;
  size_t capacity;
} sfl_error;

/* Room for an answer of unknown length, owned by the caller. The callee writes at most `capacity`
 * bytes and sets `size` to the length of the whole answer. If that is more than `capacity`, the
 * caller may call again with more room, up to SFL_MAX_OUTPUT_BYTES. */
typedef struct sfl_output {
  char* data;
  size_t capacity;
  size_t size;
} sfl_output;

/* Room for an array, owned by the caller, who zeroed it and set the struct_size of elements that
 * have one. The callee fills in at most `capacity` elements and sets `count` to how many there are.
 * More than `capacity` (which is the limit, unless the call says otherwise) fails the call. Element
 * i is at SFL_AT(type, list, i): the caller's elements may be longer than the callee knows them. */
typedef struct sfl_list {
  void* data;
  size_t stride; /* bytes from one element to the next */
  size_t capacity;
  size_t count;
} sfl_list;

#define SFL_AT(type, list, i) ((type*)sfl_offset((list)->data, (list)->stride, (i)))

/* A SHA-256, or what is compared like one. */
typedef struct sfl_digest {
  uint8_t bytes[32];
} sfl_digest;

static inline void* sfl_offset(const void* data, size_t stride, size_t i) {
  return (char*)(uintptr_t)data + stride * i;
}

/* Writes `text` (NUL-terminated) into `error`, cut to fit. */
static inline void sfl_set_error(sfl_error* error, const char* text) {
  size_t i = 0;
  if (error == NULL || error->message == NULL || error->capacity == 0) return;
  for (; text != NULL && text[i] != '\0' && i + 1 < error->capacity; ++i) {
    error->message[i] = text[i];
  }
  error->message[i] = '\0';
}

/* What a call that may take long is given; valid during that call. It may take longer than
 * micro_step_us, as long as it calls `progress` at least that often. */
typedef struct sfl_call {
  uint32_t struct_size;
  uint32_t reserved;
  void* user;
  /* Non-zero: leave nothing half done and return SFL_CANCELLED. Ask between two parts of the work.
   * Any thread; non-zero also once the call is over. */
  uint32_t (*cancelled)(void* user);
  /* Says that the call got on: a part was computed, bytes were read. A call that does not say so is
   * taken for stuck in the end, and ends the host. Ignored at a wrong time or from a wrong thread.
   */
  void (*progress)(void* user);
} sfl_call;

/* ---- Creating an engine ---------------------------------------------------------------------- */

enum { SFL_LOG_DEBUG = 0, SFL_LOG_INFO = 1, SFL_LOG_WARNING = 2, SFL_LOG_ERROR = 3 };

/* What the host offers to an engine. Valid until `destroy` returns. */
typedef struct sfl_host {
  uint32_t struct_size;
  uint32_t abi_version; /* SFL_ABI_VERSION of the host */
  void* user;           /* passed to the functions below; opaque, never dereferenced */
  /* Logs one line. Any thread, any time; a NULL text or an unknown level is tolerated. */
  void (*log)(void* user, int32_t level, const char* text, size_t size);
  /* Says how much of the model is loaded, in thousandths. May be called during `create`, from its
   * thread, as often as there is news; ignored at another time or from another thread. An engine
   * that says nothing is taken to load all the same. Hosts of before have no such member: ask
   * SFL_HAS(host, loading). */
  void (*loading)(void* user, uint32_t permille);
} sfl_host;

/* Whether a struct of the other side has this member: its struct_size says how much of it there is.
 * A pointer to a function may be NULL all the same. */
#define SFL_HAS(object, member) \
  ((object)->struct_size >= offsetof(__typeof__(*(object)), member) + sizeof((object)->member))

typedef struct sfl_option {
  sfl_string key;
  sfl_string value;
} sfl_option;

typedef struct sfl_config {
  uint32_t struct_size;
  int32_t device;        /* accelerator index */
  int32_t threads;       /* compute threads to use; 0 means one, not the library's default */
  uint32_t option_count; /* of `options`, in the order given by the user; keys may repeat */
  const sfl_option* options;
  sfl_string model_path; /* empty: the engine's default model, if it has one */
} sfl_config;

/* The host zeroes the struct and sets struct_size; the plug-in fills in the rest. */
typedef struct sfl_engine_info {
  uint32_t struct_size;
  uint32_t max_transcriptions; /* that may exist at once; 0: none */
  uint32_t max_lanes;          /* lanes of a tick; 0: no ticks */
  uint32_t kv_bits;            /* bits of one KV element; 0: no KV state */
  int64_t micro_step_us;       /* longest single step expected; 0: the host's default (20 ms) */
  char name[64];               /* NUL-terminated; [A-Za-z0-9_-]+ */
  char version[128];           /* NUL-terminated; for people */
  uint32_t generation;         /* non-zero: it generates tokens, see sfl_generation.h */
  uint32_t vocab_size;         /* tokens are below this; at least 1 if it generates */
} sfl_engine_info;

/* In bytes or blocks, in the terms of Link W. Zeroed by the host. */
typedef struct sfl_memory {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t allocated_bytes;
  uint64_t host_retained_bytes;
  uint64_t pool_blocks_total;
  uint64_t pool_blocks_used;
  uint64_t pool_bytes_evictable;
  uint64_t tentative_bytes;
} sfl_memory;

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND */

#endif /* SUPERFLUID_ENGINE_ABI_SFL_CORE_H_ */
