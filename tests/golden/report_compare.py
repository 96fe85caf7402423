# SPDX-License-Identifier: GPL-3.0-or-later
"""kab compare over two real runs: the head has the facts of both, once where they are the same."""
import json
import re
import tempfile

from checks import check, equal, finish, private, run, strict

private()

SUITE = {'name': 's', 'repeat': {'boots': 2, 'iterations': 2}, 'quiet': 'off',
         'cases': [{'name': 'x', 'runner': 'synthetic', 'params': {'mean': 10, 'sd': 0.1}}]}

with tempfile.TemporaryDirectory() as home:
    path = f'{home}/s.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(SUITE, f)
    for name, seed in (('one', '7'), ('two', '8')):
        p = run('run', path, '--kernel', 'base=running', '--kernel', 'test=running', '--name', name, '--seed', seed,
                home=home)
        equal(p.returncode, 0, f'run {name}: {p.stderr}')
    alone = strict(run('report', 'one', '--format', 'json', home=home).stdout)['preamble']
    p = run('compare', 'one:base', 'two:base', home=home)
    equal(p.returncode, 0, f'compare: {p.stderr}')
    both = strict(run('compare', 'one:base', 'two:base', '--format', 'json', home=home).stdout)['preamble']
    for key in ('machine', 'power', 'virt', 'bench'):
        check(both[key] and both[key] == alone[key], f'{key}: {both[key]}, alone {alone[key]}')
    release = re.search(r' = (\S+),', alone['kernels'][0])[1]
    equal([x.split(' = ')[0].split() for x in both['kernels']], [['base', 'one:base'], ['test', 'two:base']], 'labels')
    check(all(f'= {release}' in x for x in both['kernels']), f'kernels: {both["kernels"]}')
    check('seed 7' in both['runs'] and 'seed 8' in both['runs'], f'runs: {both["runs"]}')
    equal(both['reproduce'], [f'kab run s.json --kernel base=running --kernel test=running --seed {s}' for s in (7, 8)],
          'reproduce')
    check(any('different runs' in x for x in both['notices']), 'tested unpaired, and said so')
    check(any('A/A' in x for x in both['notices']), 'one and the same kernel')
    check('unknown\n' not in p.stdout.split('\n\n')[0].replace('.config unknown', ''), f'no line is unknown: {p.stdout}')
finish()
