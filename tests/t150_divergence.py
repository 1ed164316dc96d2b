#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# shows: random kernels with nested branches, loops, simd operations and barriers give what a lane-mask interpreter gives
# timeout: 900
"""Each kernel is made twice from one tree: as MSL text, and as a walk over it that keeps a mask of active lanes, as a
GPU does. All arithmetic is on 32-bit unsigned integers, so the answers must be equal to the bit. SEEDS=n sets how many
kernels, SEED=n which one begins."""
import os
import random
import subprocess
import sys

WORD = 0xFFFFFFFF
VARIABLES = 4
LANES = 32


class Maker:
    """A random statement tree: lists of tuples."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def value(self):
        r = self.random
        return r.choice([('var', r.randrange(VARIABLES)), ('lane',), ('thread',), ('const', r.randrange(1, 50))])

    def expression(self, depth=2):
        r = self.random
        if depth == 0 or r.random() < 0.3:
            return self.value()
        return (r.choice(['+', '*', '^', '-']), self.expression(depth - 1), self.expression(depth - 1))

    def condition(self):
        r = self.random
        kind = r.choice(['lane_bit', 'lane_below', 'value_odd', 'value_below', 'uniform'])
        if kind == 'lane_bit':
            return ('bit', ('lane',), r.randrange(5))
        if kind == 'lane_below':
            return ('below', ('lane',), ('const', r.randrange(1, 32)))
        if kind == 'value_odd':
            return ('bit', self.expression(1), r.randrange(3))
        if kind == 'value_below':
            return ('below', self.expression(1), self.expression(1))
        return ('below', ('const', r.randrange(2)), ('const', 1))

    def simd(self):
        r = self.random
        operation = r.choice(['simd_sum', 'simd_max', 'simd_min', 'simd_xor', 'simd_prefix_inclusive_sum',
                              'simd_broadcast_first', 'simd_ballot', 'simd_or'])
        return ('simd', r.randrange(VARIABLES), operation, self.expression(1))

    def block(self, depth, in_loop, top):
        r = self.random
        statements = []
        for _ in range(r.randrange(1, 5 if depth else 3)):
            kind = r.random()
            if kind < 0.25 or depth == 0:
                statements.append(self.simd() if r.random() < 0.6
                                  else ('set', r.randrange(VARIABLES), self.expression()))
            elif kind < 0.55:
                other = self.block(depth - 1, in_loop, False) if r.random() < 0.6 else []
                statements.append(('if', self.condition(), self.block(depth - 1, in_loop, False), other))
            elif kind < 0.80:
                self.loops += 1
                trips = r.choice([('const', r.randrange(1, 5)), ('mod', ('lane',), r.randrange(2, 6)),
                                  ('mod', self.expression(1), r.randrange(2, 6))])
                statements.append(('loop', self.loops, trips, self.block(depth - 1, True, False)))
            elif in_loop and kind < 0.90:
                statements.append((r.choice(['break', 'continue']), self.condition()))
            elif top and kind < 0.95:
                statements.append(('barrier', r.randrange(VARIABLES)))
            elif not in_loop and kind < 0.97:
                statements.append(('return', ('below', ('const', r.randrange(20, 32)), ('lane',))))
            else:
                statements.append(('set', r.randrange(VARIABLES), self.expression()))
        return statements


# ---- as text ----
def text_of(e):
    if e[0] == 'var':
        return f'v{e[1]}'
    if e[0] == 'const':
        return f'{e[1]}u'
    if e[0] == 'lane':
        return 'lane'
    if e[0] == 'thread':
        return 'tid'
    if e[0] == 'mod':
        return f'({text_of(e[1])} % {e[2]}u)'
    if e[0] == 'bit':
        return f'((({text_of(e[1])}) >> {e[2]}) & 1u) != 0'
    if e[0] == 'below':
        return f'({text_of(e[1])}) < ({text_of(e[2])})'
    return f'({text_of(e[1])} {e[0]} {text_of(e[2])})'


def lines_of(statements, indent):
    pad = '    ' * indent
    for s in statements:
        if s[0] == 'set':
            yield f'{pad}v{s[1]} = {text_of(s[2])};'
        elif s[0] == 'simd':
            argument = text_of(s[3])
            if s[2] == 'simd_ballot':
                yield f'{pad}v{s[1]} = uint(ulong(simd_ballot((({argument}) & 1u) != 0)));'
            else:
                yield f'{pad}v{s[1]} = {s[2]}(uint({argument}));'
        elif s[0] == 'if':
            yield f'{pad}if ({text_of(s[1])}) {{'
            yield from lines_of(s[2], indent + 1)
            if s[3]:
                yield f'{pad}}} else {{'
                yield from lines_of(s[3], indent + 1)
            yield f'{pad}}}'
        elif s[0] == 'loop':
            yield f'{pad}for (uint i{s[1]} = 0, n{s[1]} = {text_of(s[2])}; i{s[1]} < n{s[1]}; i{s[1]}++) {{'
            yield from lines_of(s[3], indent + 1)
            yield f'{pad}}}'
        elif s[0] in ('break', 'continue'):
            yield f'{pad}if ({text_of(s[1])}) {s[0]};'
        elif s[0] == 'return':
            yield f'{pad}if ({text_of(s[1])}) {{ STORE return; }}'
        elif s[0] == 'barrier':
            yield f'{pad}shared[tid] = v{s[1]};'
            yield f'{pad}threadgroup_barrier(mem_flags::mem_threadgroup);'
            yield f'{pad}v{s[1]} += shared[(tid * 7 + 3) % threads];'
            yield f'{pad}threadgroup_barrier(mem_flags::mem_threadgroup);'


def kernel_text(name, tree):
    body = '\n'.join(lines_of(tree, 1))
    return f'''kernel void {name}(device uint *out, uint3 position [[thread_position_in_grid]],
    uint3 grid [[threads_per_grid]], uint tid [[thread_index_in_threadgroup]],
    uint3 group [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]])
{{
    threadgroup uint shared[1024];
    const uint at = ((position.z * grid.y + position.y) * grid.x + position.x) * {VARIABLES};
    const uint threads = group.x * group.y * group.z;
    uint v0 = tid * 3 + 1, v1 = lane, v2 = 7, v3 = tid ^ 5;
{body}
    STORE
}}
'''


# ---- as a walk with masks ----
class Group:
    """All simdgroups of one threadgroup, statement by statement; barriers stand at the top level only."""

    def __init__(self, threads):
        self.threads = threads
        self.v = [[t * 3 + 1 for t in range(threads)], [t % LANES for t in range(threads)],
                  [7] * threads, [t ^ 5 for t in range(threads)]]
        self.shared = [0] * threads
        self.gone = set()
        self.counter = {}

    def eval(self, e, t):
        k = e[0]
        if k == 'var':
            return self.v[e[1]][t]
        if k == 'const':
            return e[1]
        if k == 'lane':
            return t % LANES
        if k == 'thread':
            return t
        if k == 'mod':
            return self.eval(e[1], t) % e[2]
        if k == 'bit':
            return self.eval(e[1], t) >> e[2] & 1
        a, b = self.eval(e[1], t), self.eval(e[2], t)
        if k == 'below':
            return a < b
        return {'+': a + b, '*': a * b, '^': a ^ b, '-': a - b}[k] & WORD

    def simd(self, s, active):
        result = {}
        for first in range(0, self.threads, LANES):
            lanes = [t for t in range(first, min(first + LANES, self.threads)) if t in active]
            if not lanes:
                continue
            x = {t: self.eval(s[3], t) for t in lanes}
            values = [x[t] for t in lanes]
            if s[2] == 'simd_prefix_inclusive_sum':
                total = 0
                for t in lanes:
                    total = (total + x[t]) & WORD
                    result[t] = total
                continue
            if s[2] == 'simd_ballot':
                answer = sum(1 << t - first for t in lanes if x[t] & 1)
            elif s[2] == 'simd_sum':
                answer = sum(values) & WORD
            elif s[2] == 'simd_broadcast_first':
                answer = values[0]
            elif s[2] in ('simd_max', 'simd_min'):
                answer = max(values) if s[2] == 'simd_max' else min(values)
            else:
                answer = 0
                for value in values:
                    answer = answer ^ value if s[2] == 'simd_xor' else answer | value
            for t in lanes:
                result[t] = answer
        for t, value in result.items():
            self.v[s[1]][t] = value

    def run(self, statements, active, broken, continued):
        """Runs a block; lanes that leave it early are put into broken, continued or self.gone."""
        for s in statements:
            live = active - broken - continued - self.gone
            if s[0] == 'barrier':
                for t in live:
                    self.shared[t] = self.v[s[1]][t]
                for t in live:
                    self.v[s[1]][t] = (self.v[s[1]][t] + self.shared[(t * 7 + 3) % self.threads]) & WORD
            elif not live:
                continue
            elif s[0] == 'set':
                new = {t: self.eval(s[2], t) for t in live}
                for t, value in new.items():
                    self.v[s[1]][t] = value
            elif s[0] == 'simd':
                self.simd(s, live)
            elif s[0] == 'if':
                yes = {t for t in live if self.eval(s[1], t)}
                self.run(s[2], yes, broken, continued)
                self.run(s[3], live - yes, broken, continued)
            elif s[0] == 'loop':
                trips = {t: self.eval(s[2], t) for t in live}
                inner_broken = set()
                turn = 0
                while True:
                    inside = {t for t in live if turn < trips[t]} - inner_broken - self.gone
                    if not inside:
                        break
                    self.run(s[3], inside, inner_broken, set())
                    turn += 1
            elif s[0] == 'return':
                self.gone |= {t for t in live if self.eval(s[1], t)}
            else:
                leaving = {t for t in live if self.eval(s[1], t)}
                (broken if s[0] == 'break' else continued).update(leaving)


def has(tree, kind):
    return any(s[0] == kind or any(has(part, kind) for part in s if isinstance(part, list)) for s in tree)


def expected(tree, threads):
    group = Group(threads)
    group.run(tree, set(range(threads)), set(), set())
    return [group.v[k][t] for t in range(threads) for k in range(VARIABLES)]


def main():
    count = int(os.environ.get('SEEDS', '24'))
    first = int(os.environ.get('SEED', '1'))
    trees = {}
    for seed in range(first, first + count):
        tree = Maker(seed).block(3, False, True)
        # A barrier behind an early return is undefined in Metal.
        if has(tree, 'barrier') and has(tree, 'return'):
            tree = [s for s in tree if s[0] != 'barrier']
        trees[f'k{seed}'] = tree
    source = '#include <metal_stdlib>\nusing namespace metal;\n'
    source += '#define STORE out[at] = v0; out[at + 1] = v1; out[at + 2] = v2; out[at + 3] = v3;\n'
    source += '\n'.join(kernel_text(name, tree) for name, tree in trees.items())
    with open('kernels.metal', 'w', encoding='utf-8') as file:
        file.write(source)
    program = os.path.join(os.environ['BUILD'], 'tests/targets/run_kernel')
    wrong = 0
    for shape in ('32', '96', '50', '8x8', '5x3x7'):
        sizes = [int(n) for n in shape.split('x')]
        threads = 1
        for n in sizes:
            threads *= n
        command = [program, 'kernels.metal', str(VARIABLES), shape, shape, *trees]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f'{" ".join(command[:5])}: exit code {done.returncode}\n{done.stderr}')
        answers = {line.split()[0]: [int(w) for w in line.split()[1:]] for line in done.stdout.splitlines()}
        for name, tree in trees.items():
            want = expected(tree, threads)
            if answers[name] != want:
                wrong += 1
                at = next(i for i, (a, b) in enumerate(zip(answers[name], want)) if a != b)
                print(f'{name} with {shape} threads: v{at % VARIABLES} of thread {at // VARIABLES} is '
                      f'{answers[name][at]}, expected {want[at]}')
    if wrong:
        sys.exit(f'{wrong} wrong')
    print(f'{len(trees)} kernels, 5 shapes: all equal')


main()
