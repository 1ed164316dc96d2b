// SPDX-License-Identifier: MIT
// timeout: 120
// Kernels that go wrong: one that never ends, one that waits for another thread without a barrier, accesses
// outside of buffers. Each is an error of its command buffer that says where; the process and other kernels
// go on.
#include "msl/harness.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void endless(device atomic_int *a, uint i [[thread_position_in_grid]])\n"
    "{\n"
    "    while (atomic_load_explicit(a, memory_order_relaxed) == 0)\n"
    "        ;\n"
    "    a[1].__value = 1;\n"
    "}\n"
    "kernel void waits(device atomic_int *a, uint t [[thread_index_in_threadgroup]])\n"
    "{\n"
    "    if (t == 0) {\n"
    "        while (atomic_load_explicit(a, memory_order_relaxed) == 0)\n"
    "            ;\n"
    "    }\n"
    "    simdgroup_barrier(mem_flags::mem_device);\n"
    "    atomic_store_explicit(a, 1, memory_order_relaxed);\n"
    "}\n"
    "kernel void writes_at(device float *first, device float *second, constant int &at)\n"
    "{\n"
    "    second[at] = first[0];\n"
    "}\n"
    "kernel void reads_at(device float *first, device const float *second, constant int &at)\n"
    "{\n"
    "    threadgroup float x[32];\n"
    "    x[0] = second[at];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    first[0] = x[0] + simd_sum(second[at]);\n"
    "}\n";

static void goes_on(void)
{
    float first[4] = {5}, second[4] = {0};
    int32_t at = 3;
    RUN(.kernel = "writes_at", .threads = {1}, .group = {1}, .args = {BUF(first), BUF(second), VAL(at)});
    CHECK_EQ(second[3], 5);
}

__attribute__((unused)) static void never_ends(const char *kernel)
{
    int32_t a[2] = {0, 0};
    CHECK(!msl_try(&(msl_call){.kernel = kernel, .threads = {64}, .group = {32}, .args = {BUF(a)}}));
    CHECK_HAS(msl.error, kernel);
    CHECK_HAS(msl.error, "ran longer than 0.5 s");
    goes_on();
}

static void outside(const char *kernel, int32_t at, const char *offset)
{
    // 16 KiB, so that the end of the buffer is the end of a page.
    static float first[4096], second[4096];
    CHECK(!msl_try(&(msl_call){
        .kernel = kernel, .threads = {1}, .group = {1}, .args = {BUF(first), BUF(second), VAL(at)}}));
    CHECK_HAS(msl.error, kernel);
    CHECK_HAS(msl.error, "index 1");
    CHECK_HAS(msl.error, offset);
    goes_on();
}

static void error_object(void)
{
    float first[4] = {0};
    int32_t at = 3;
    // Nothing is bound at index 1.
    CHECK(!msl_try(&(msl_call){.kernel = "writes_at",
                               .threads = {1},
                               .group = {1},
                               .args = {BUF(first), {NULL, 0, MSL_UNBOUND}, VAL(at)}}));
    CHECK_HAS(msl.error, "not bound");
    goes_on();
}

int main(void)
{
    setenv("SOFTMETAL_TIME_LIMIT", "0.5", 1);
    setenv("SOFTMETAL_VALIDATE", "1", 1);
    msl_source(source);
    goes_on();
#if !__has_feature(thread_sanitizer)
    // The thread sanitizer holds back the signal that ends a kernel until the kernel's thread calls
    // something.
    never_ends("endless");
    never_ends("waits");
#endif
    outside("writes_at", 4096, "offset 16384 of 16384 bytes");
    outside("writes_at", 4100, "offset 16400 of 16384 bytes");
    outside("writes_at", -1, "offset -4 of 16384 bytes");
    outside("reads_at", 5000, "offset 20000 of 16384 bytes");
    error_object();
    return msl_end();
}
