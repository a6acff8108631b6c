#ifndef CULPRIT_INJECT_WIRE_GGML_OPS_H
#define CULPRIT_INJECT_WIRE_GGML_OPS_H

/* The file that inject/ggml writes and trace/ggml_ops reads, as plain C: one of the two lives in
 * somebody else's process. All integers are in the byte order of the machine that wrote it.
 * Source: doc/formats/ggml-ops.md. */

#include <stdint.h>

#define CULPRIT_OPS_VARIABLE "CULPRIT_GGML_OPS" /* the folder to write into */
#define CULPRIT_OPS_ENDING ".ggml-ops"          /* of the file there, behind the pid */
#define CULPRIT_OPS_MAGIC "CULPOPS\n"
#define CULPRIT_OPS_VERSION 1u
#define CULPRIT_OPS_SOURCES 3 /* operands of an op that are described */

enum { CULPRIT_OPS_NAME_BYTES = 64 };

/* The first bytes of the file. Stamps are CLOCK_BOOTTIME, whose number stands in clock. */
struct culprit_ops_header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes; /* records begin here */
  uint32_t clock;
  uint32_t pid;
  int64_t opened_ns;
};

enum culprit_ops_kind {
  CULPRIT_OPS_NODE = 1,       /* id: definition; begin, end: when it ran */
  CULPRIT_OPS_GRAPH = 2,      /* id: its nodes, which stand before it; begin, end: of the whole */
  CULPRIT_OPS_DEFINITION = 3, /* id: its number; begin: bytes that follow (the body); end: 0 */
  CULPRIT_OPS_CHUNK = 4, /* id: scheduler; begin: bytes that follow; end: dropped by it so far */
  CULPRIT_OPS_END = 5,   /* id: 0, or the signal that killed; begin: when; end: nodes written */
};

/* Everything behind the header is records of this size, or begins with one. */
struct culprit_ops_record {
  uint32_t kind;
  uint32_t id;
  int64_t begin;
  int64_t end;
};

/* Texts are filled up with zeros and need not end in one. */
struct culprit_ops_tensor {
  char name[CULPRIT_OPS_NAME_BYTES]; /* "ffn_out-3", "blk.3.ffn_down.weight" */
  char type[16];                     /* "q4_K" */
  int64_t size[4]; /* elements in each dimension; all 0: there is no such tensor */
};

/* What nodes are, written before the first that is like it. Numbered by each scheduler for itself,
 * from 0 and without holes; number 0 again forgets those before it, of which some may be lost. */
struct culprit_ops_definition {
  char op[32];      /* "MUL_MAT", "SWIGLU" */
  char backend[32]; /* "CPU", "CUDA0" */
  struct culprit_ops_tensor node;
  struct culprit_ops_tensor source[CULPRIT_OPS_SOURCES];
};

#endif
