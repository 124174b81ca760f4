/* Of the C interface between worker and engine: stages of a model, media, and strategies for
 * speculative decoding. See superfluid_engine.h. */
#ifndef SUPERFLUID_ENGINE_ABI_SFL_MODEL_H_
#define SUPERFLUID_ENGINE_ABI_SFL_MODEL_H_

/* The checks of C++ code do not fit a C header. NOLINTBEGIN */

#include "sfl_state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFL_MAX_EMBEDDING ((size_t)1 << 22)     /* floats of an embedding            */
#define SFL_MAX_HIDDEN_BYTES ((size_t)64 << 20) /* the hidden state between stages   */
#define SFL_MAX_STRATEGIES 256                  /* built in                          */
#define SFL_MAX_CERTIFICATES 64                 /* of a strategy                     */
#define SFL_MAX_IDENTITIES 4096                 /* of all certificates of a strategy */
#define SFL_MAX_CERTIFICATE_IDENTITIES 256      /* of one certificate                */

enum { SFL_STAGE_HAS_HIDDEN = 1u }; /* not set for the first stage */

/* Layers [start_layer, end_layer) of a model whose layers are spread over workers. */
typedef struct sfl_stage {
  uint32_t struct_size;
  uint32_t flags;
  uint32_t start_layer;
  uint32_t end_layer;
  const uint32_t* tokens;
  size_t token_count;
  const void* hidden; /* the previous stage's output */
  size_t hidden_size;
} sfl_stage;

enum {
  SFL_STAGE_HIDDEN = 1, /* the answer is in the sfl_output */
  SFL_STAGE_TOKEN = 2   /* of the last stage: the answer is `token` */
};

typedef struct sfl_stage_result {
  uint32_t struct_size;
  uint32_t kind; /* an SFL_STAGE_ value; 0, as the host sets it, is a mistake */
  uint32_t token;
  uint32_t reserved;
} sfl_stage_result;

/* The tokens are below vocab_size. */
typedef struct sfl_media_info {
  uint32_t struct_size;
  uint32_t token_count; /* that stand for the medium in a sequence; 0, as set, is a mistake */
  uint32_t image_token;
  uint32_t boi_token;
  uint32_t eoi_token;
  uint32_t reserved;
  uint64_t preprocess_fp; /* fingerprint of how it was prepared; part of cache keys */
} sfl_media_info;

/* A strategy that is always there. */
typedef struct sfl_built_in_strategy {
  uint32_t struct_size;
  uint32_t slot;                        /* not 0 */
  char strategy_id[SFL_MAX_NAME_BYTES]; /* NUL-terminated, like the next */
  char impl_version[SFL_MAX_NAME_BYTES];
} sfl_built_in_strategy;

typedef struct sfl_strategy_artifact {
  uint32_t struct_size;
  uint32_t role;
  uint64_t byte_size;
  sfl_digest content_hash; /* the host has compared it with the file */
  sfl_string path;         /* can be opened during the call */
} sfl_strategy_artifact;

typedef struct sfl_strategy_tap {
  uint32_t layer;
  uint32_t tensor;
  uint32_t dtype;
  uint32_t layout;
} sfl_strategy_tap;

typedef struct sfl_strategy_requirement {
  uint32_t kind_id;
  uint32_t reserved;
  const uint64_t* params;
  size_t param_count;
} sfl_strategy_requirement;

/* A strategy to be registered. */
typedef struct sfl_strategy {
  uint32_t struct_size;
  uint32_t claimed_exactness;
  sfl_string strategy_id;
  sfl_string impl_version;
  sfl_digest impl_hash;
  sfl_digest config_hash;
  const sfl_strategy_artifact* artifacts; /* element i: sfl_offset(artifacts, artifact_stride, i) */
  size_t artifact_count;
  size_t artifact_stride;
  const sfl_strategy_tap* taps;
  size_t tap_count;
  const sfl_strategy_requirement* requirements;
  size_t requirement_count;
  const sfl_string* target_archs; /* none: any */
  size_t target_arch_count;
  uint64_t kernel_caps_required;
  uint64_t est_state_bytes;
  uint32_t rng_contract_version;
  uint32_t reserved;
} sfl_strategy;

enum { SFL_CERTIFICATE_GRAMMAR = 1u, SFL_CERTIFICATE_LOGIT_BIAS = 2u };

/* A promise about what a strategy draws. */
typedef struct sfl_certificate {
  uint32_t struct_size;
  uint32_t exactness;
  uint64_t cert_id;
  uint64_t param_domain;
  uint32_t sampling_modes;
  uint32_t flags; /* what it holds with: SFL_CERTIFICATE_ bits */
  uint32_t verification_shape_class;
  /* How many of `identities` are this certificate's; those of the first certificate come first. At
   * most SFL_MAX_CERTIFICATE_IDENTITIES. */
  uint32_t identity_count;
} sfl_certificate;

/* What a registered strategy promises and needs. Zeroed by the host, but for the lists. */
typedef struct sfl_strategy_terms {
  uint32_t struct_size;
  uint32_t slot; /* not 0 */
  uint64_t reserved_bytes;
  sfl_list certificates; /* of sfl_certificate */
  sfl_list identities;   /* of sfl_digest: the hosts that certificates admit */
  sfl_list state_spaces; /* of sfl_state_space: what the strategy adds to the engine's */
} sfl_strategy_terms;

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND */

#endif /* SUPERFLUID_ENGINE_ABI_SFL_MODEL_H_ */
