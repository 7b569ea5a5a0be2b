// CUDA's words for a host compiler. The caller sets `blazarr_index` and calls a kernel once for every thread: no kernel
// here lets threads of a block wait for each other.
#pragma once

#define KERNEL extern "C" void
#define DEVICE static inline
#define DEVICE_METHOD inline
#define DEVICE_CALL inline
#define DEVICE_APART static
#define NEAREST __builtin_rint

struct Index {
  u64 x;
};

static thread_local Index blockIdx, gridDim, threadIdx, blockDim;

extern "C" void blazarr_index(u64 block, u64 blocks, u64 thread, u64 threads) {
  blockIdx.x = block;
  gridDim.x = blocks;
  threadIdx.x = thread;
  blockDim.x = threads;
}
