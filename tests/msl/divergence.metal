// SPDX-License-Identifier: MIT
// Simd operations inside every kind of divergent control flow. Each result shows which lanes took part; the
// simulation in tests/unit/msl_divergence.m follows the same paths lane by lane.
#include <metal_stdlib>
using namespace metal;

enum { RESULTS = 24 };

uint here()
{
    return (uint)(ulong)simd_ballot(true);
}

// Returns early in some lanes; its caller has all of them again.
uint helper(uint lane)
{
    if (lane % 3 == 1)
        return 1000;
    uint all = here();
    if (lane % 3 == 2)
        return all;
    return popcount(here());
}

kernel void branches(device uint *out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]],
                     uint i [[thread_position_in_grid]])
{
    device uint *r = out + i * RESULTS;
    // Nested.
    if (lane & 1) {
        r[0] = here();
        if (lane & 2)
            r[1] = here();
        else
            r[1] = ~here();
        r[2] = here();
    } else {
        r[0] = here();
        if (lane < 8) {
            if (lane < 4)
                r[1] = here();
            r[2] = here();
        }
    }
    r[3] = here();
    // switch: 0 falls into 1, 2 ends, the others are the default.
    uint mark = 0;
    switch (lane % 5) {
    case 0:
        mark = here();
    case 1:
        mark ^= here();
        break;
    case 2:
        mark = here();
        break;
    default:
        mark = here() + 1;
    }
    r[4] = mark;
    r[5] = here();
    // Conditions that call only in some lanes.
    r[6] = lane > 9 && simd_any(lane == 12);
    r[7] = lane > 9 || simd_all(lane < 10);
    r[8] = lane % 4 == 0 ? simd_sum(lane) : simd_max(lane);
    r[9] = helper(lane);
    r[10] = here();
    // The same operation at the end of both branches.
    if (lane < 11)
        r[11] = simd_sum(lane);
    else
        r[11] = simd_sum(lane);
}

kernel void loops(device uint *out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]],
                  uint i [[thread_position_in_grid]])
{
    device uint *r = out + i * RESULTS;
    // Trip count by lane.
    uint hash = 0;
    for (uint n = 0; n < lane % 7; n++)
        hash = hash * 31 + here();
    r[0] = hash;
    r[1] = here();
    // continue and break.
    hash = 0;
    for (uint n = 0; n < 12; n++) {
        if ((lane + n) % 4 == 0)
            continue;
        hash = hash * 31 + here();
        if (n == lane % 9)
            break;
        hash = hash * 31 + here();
    }
    r[2] = hash;
    r[3] = here();
    // A loop in a loop, left from the inner one.
    hash = 0;
    for (uint n = 0; n < 4; n++) {
        for (uint m = 0; m <= n + lane % 3; m++) {
            if (m == 3 && lane % 5 == 0)
                break;
            hash = hash * 31 + here();
        }
        if (n == 2 && lane % 8 == 1)
            break;
        hash = hash * 31 + simd_sum(lane);
    }
    r[4] = hash;
    // The loop's condition is an operation.
    uint left = lane % 6, rounds = 0;
    do {
        if (left)
            left--;
        rounds++;
    } while (simd_any(left > 0));
    r[5] = rounds;
    // One value after the other.
    uint mine = lane * 5 % 7, count = 0;
    while (true) {
        if (simd_broadcast_first(mine) == mine) {
            count = simd_sum(1u);
            break;
        }
    }
    r[6] = count;
    r[7] = here();
    // while with a switch inside: break leaves the switch, continue the round.
    hash = 0;
    uint n = lane % 4;
    while (n < 9) {
        n += 2;
        switch (n % 3) {
        case 0:
            continue;
        case 1:
            hash = hash * 31 + here();
            break;
        default:
            hash = hash * 31 + 7;
        }
        hash = hash * 31 + here();
    }
    r[8] = hash;
    r[9] = here();
    // Early return, at last inside a loop.
    if (lane % 6 == 5)
        return;
    r[10] = here();
    for (uint m = 0; m < 4; m++) {
        if (lane % 6 == m)
            return;
        r[11 + m] = here();
    }
    r[15] = here();
}
