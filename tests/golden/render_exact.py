# SPDX-License-Identifier: GPL-3.0-or-later
"""kab render --exact: tables from mails byte for byte, and other tables in the same layouts, whose lines are
made here from the formats that those tables follow."""
import copy
import json
import random

from checks import TABLES, check, equal, finish, render

tables = {t['style']: t for t in json.load(open(TABLES, encoding='utf-8'))['tables']}


def as_input(t):
    head, foot = t.get('header_lines', 0), t.get('footer_lines', 0)
    return {'columns': t['columns'], 'rows': t['rows'], 'header': t['lines'][:head],
            'footer': t['lines'][len(t['lines']) - foot:] if foot else [], 'better': t.get('better'),
            'unit': t.get('unit'), 'benchmark': t.get('benchmark')}


def exact(style, table, want, what):
    p = render(style, table, '--exact')
    got = p.stdout.rstrip('\n').split('\n')[-len(want):]
    equal(p.returncode, 0, what)
    for i, (a, b) in enumerate(zip(got, want)):
        if a != b:
            check(False, f'{what}, line {i}: {a!r} not {b!r}')
            return
    check(True, what)


for t in tables.values():
    exact(t['style'], as_input(t), t['lines'], t['id'])

rng = random.Random(20)


def number(lo, hi, decimals):
    return round(rng.uniform(lo, hi), decimals)


# plain: other numbers and more rows.
t = as_input(tables['plain'])
for _ in range(10):
    t['rows'] = [[f'{2 ** i} groups', number(0, 900, 3), number(0, 30, 2), number(0, 900, 3), number(0, 30, 2),
                  number(-99, 99, 2)] for i in range(rng.randint(1, 12))]
    lines = [('%-10s%10.3f %-9s%12.3f %-9s%10s' % (r[0], r[1], '+/-%.2f%%' % r[2], r[3], '+/-%.2f%%' % r[4],
                                                   '(%+.2f%%)' % r[5])).rstrip() for r in t['rows']]
    exact('plain', t, t['header'] + lines, 'plain, other numbers')

# grid: other numbers between the same rules.
t = as_input(tables['grid'])
for _ in range(5):
    t['rows'] = [[rng.randint(1, 999), rng.randint(1, 99), rng.randint(1, 9999), '%.4f' % number(0, 9, 4),
                  '%.5f' % number(0, 9, 5), '%.4f' % number(0, 9, 4), '%+.1f%%' % number(-90, 90, 1),
                  '%.5f' % number(0, 9, 5)] for _ in range(rng.randint(1, 6))]
    lines = ['| %6d | %3d | %5d | %-7s | %-7s | %-15s | %-7s |' % (
        r[0], r[1], r[2], r[3], r[4], f'{r[5]} ({r[6]})', r[7]) for r in t['rows']]
    exact('grid', t, t['header'] + lines + t['footer'], 'grid, other numbers')

# org: each column has the fewest decimals that hold its values (at least one for fractions).
def places(values):
    if all(isinstance(v, int) for v in values):
        return 0
    most = 1
    for v in values:
        text = repr(float(v))
        most = max(most, len(text.split('.')[1]) if '.' in text else 0)
    return min(most, 6)


for _ in range(10):
    columns = ['kernel', 'count', 'mean', 'std', 'max']
    rows = [['k%d %s' % (i, 'x' * rng.randint(0, 9)), rng.randint(1, 400), number(1, 99999, 6),
             number(0, 999, rng.randint(1, 6)), float(rng.randint(1, 10 ** rng.randint(1, 7)))]
            for i in range(rng.randint(2, 7))]
    cells = []
    for c in range(len(columns)):
        col = [r[c] for r in rows]
        if c == 0:
            cells.append(col)
        else:
            d = places(col)
            cells.append(['%.*f' % (d, v) for v in col])
    width = [max(len(columns[c]), *(len(x) for x in cells[c])) for c in range(len(columns))]
    head = ['| ' + ' | '.join((h.ljust if c == 0 else h.rjust)(width[c]) for c, h in enumerate(columns)) + ' |',
            '|' + '+'.join('-' * (w + 2) for w in width) + '|']
    lines = ['| ' + ' | '.join((cells[c][r].ljust if c == 0 else cells[c][r].rjust)(width[c])
                               for c in range(len(columns))) + ' |' for r in range(len(rows))]
    exact('org', {'columns': columns, 'rows': rows, 'header': head, 'footer': []}, head + lines, 'org, other table')

# mmtests: three kernels, wide loads, rates with two decimals.
for loads, unit, stat, decimals in ((['1', '4', '110'], 's', 'Amean', 4),
                                    (['rndread-1', 'rndread-128'], 'MB/s', 'Hmean', 2)):
    for kernels in (1, 2, 3):
        width = max(13, 10 + max(len(x) for x in loads))
        columns = ['stat', 'load']
        for k in range(kernels):
            columns += [f'k{k}', f'k{k}_pct'] + ([f'k{k}_significant'] if k else [])
        rows, lines = [], []
        for s in (stat, 'Stddev'):
            for load in loads:
                row, line = [s, load], ('%-9s %-3s' % (s, load)).ljust(width)
                for k in range(kernels):
                    v, p, mark = number(0, 9999, 4), number(-150, 150, 2) if k else 0.0, bool(k and rng.random() < .5)
                    row += [v, p] + ([mark] if k else [])
                    line += ('%12.*f *%7.2f%%*' if mark else '%12.*f (%7.2f%%)') % (decimals, v, p)
                rows.append(row)
                lines.append(line)
        head = ['title', ''.join(['5.13.0-rc2'.rjust(width + 23)] + ['5.13.0-rc2'.rjust(23)] * (kernels - 1)),
                ''.join(['vanilla'.rjust(width + 23)] + ['patched-v1'.rjust(23)] * (kernels - 1))]
        exact('mmtests', {'columns': columns, 'rows': rows, 'header': head, 'footer': [],
                          'better': 'lower' if stat == 'Amean' else 'higher'}, head + lines,
              f'mmtests, {kernels} kernels, {stat}')

# norm: more kernels, the sign of zero kept.
for kernels in (2, 3, 4):
    columns = ['case']
    for k in range(kernels):
        columns += [f'k{k}_norm', f'k{k}_imp_pct', f'k{k}_cv_pct']
    rows, lines = [], []
    for i in range(6):
        row, line = [f'{2 ** i}-groups'], '%9s' % f'{2 ** i}-groups'
        for k in range(kernels):
            v = [1.0, -0.0, number(0, 40, 2)] if k == 0 else [number(0, 3, 2), number(-99, 99, 2), number(0, 99, 2)]
            row += v
            line += '     %.2f [%6.2f](%5.2f)' % tuple(v)
        rows.append(row)
        lines.append(line)
    head = as_input(tables['norm'])['header'][:-1] + ['Case:           tip[pct imp](CV)' + '    other[pct imp](CV)' * (
        kernels - 1)]
    exact('norm', {'columns': columns, 'rows': rows, 'header': head, 'footer': [], 'better': 'lower'}, head + lines,
          f'norm, {kernels} kernels')

# schedtests: long names, large numbers.
t = as_input(tables['schedtests'])
t['rows'] = [[rng.choice(['loopback', 'process-pipe', 'a-case-with-a-long-name']), f'{g}-threads', 1.0,
              number(0, 120, 2), number(-120, 400, 2), number(0, 120, 2)] for g in (1, 56, 4480)]
lines = ['%-16s\t%-8s\t%5.2f (%6.2f)\t%+6.2f (%6.2f)' % tuple(r) for r in t['rows']]
exact('schedtests', t, t['header'] + lines, 'schedtests, other table')

# fastpath: groups between rules, letters before the number; widths come from the header.
head = ['+-----------------+--------------+-------------+---------------+',
        '| Benchmark       | Result Class |   v6.18-rc5 | per-task-prng |',
        '+=================+==============+=============+===============+']
rule = head[0]
rows = [['syscall/getpid', 'mean (ns)', 15.62, 'R', -3.43, 'I'], ['syscall/getpid', 'p99 (ns)', 0.4, '', -0.05, ''],
        ['syscall/invalid', 'mean (ns)', 155.019, 'R', None, '']]
lines = ['| syscall/getpid  | mean (ns)    |  (R) 15.62% |    (I) -3.43% |',
         '|                 | p99 (ns)     |       0.40% |        -0.05% |', rule,
         '| syscall/invalid | mean (ns)    | (R) 155.02% |             - |']
table = {'columns': ['benchmark', 'result_class', 'a_pct', 'a_mark', 'b_pct', 'b_mark'], 'rows': rows, 'header': head,
         'footer': [rule]}
exact('fastpath', table, head + lines + [rule], 'fastpath')
table['footer'] = []
exact('fastpath', table, head + lines + [rule], 'fastpath without a footer')

# lkp: blanks below 2 %, plain differences of percentages, exponents from nine digits on.
head = ['         %stddev     %change         %stddev', '             \\          |                \\  ']
rows = [['138055', 18, '+33.4%', '184128', 14, 'cpuidle..usage'], ['3930', None, '+7.8%', '4235', 3, 'vmstat.procs.r'],
        ['3.32', 46, '+1.5', '4.82', 13, 'mpstat.cpu.sys%'], [83270128, None, '+37.5%', 114500000.0, None, 'x.outputs'],
        [28.0, 100, '+21403.0%', 6021.0, 200, 'proc.anon'], [0.1234, None, '-0.0', 12.0, 2, 'y%']]
lines = ['    138055 \u00b1 18%     +33.4%     184128 \u00b1 14%  cpuidle..usage',
         '      3930            +7.8%       4235 \u00b1  3%  vmstat.procs.r',
         '      3.32 \u00b1 46%      +1.5        4.82 \u00b1 13%  mpstat.cpu.sys%',
         '  83270128           +37.5%  1.145e+08        x.outputs',
         '     28.00 \u00b1100%  +21403.0%       6021 \u00b1200%  proc.anon',
         '      0.12            -0.0       12.00 \u00b1  2%  y%']
table = {'columns': ['base', 'base_rsd_pct', 'change', 'test', 'test_rsd_pct', 'metric'], 'rows': rows, 'header': head,
         'footer': []}
exact('lkp', table, head + lines, 'lkp')
p = render('lkp', table)
check(p.stdout.isascii() and ' +- 18%' in p.stdout, 'lkp, clean: ASCII')

# clean: no trailing blanks, no tabs, never -0.00, whatever the table.
for t in tables.values():
    for style in ('plain', 'grid', 'org', 'markdown', t['style']):
        p = render(style, as_input(t))
        equal(p.returncode, 0, f'{t["id"]} as {style}')
        check(all(line == line.rstrip() for line in p.stdout.split('\n')), f'{t["id"]} as {style}: trailing blanks')
        check('\t' not in p.stdout and '-0.00' not in p.stdout, f'{t["id"]} as {style}: tab or -0.00')
        check(p.stdout.isascii(), f'{t["id"]} as {style}: ASCII')
        check('better' in p.stdout, f'{t["id"]} as {style}: a direction in the legend')

# markdown and org: the same number of cells in every row, whatever is in a label.
nasty = {'columns': ['case', 'base_mean'], 'rows': [['stress-ng --cpu 2 | tee *_log_*', 1.5], ['a|b|c', 2.25]]}
for style, bar in (('markdown', '\\|'), ('org', '\\vert{}')):
    p = render(style, nasty)
    rows = [line for line in p.stdout.split('\n') if line.startswith('|')]
    counts = {line.replace('\\|', '').count('|') for line in rows if '+' not in line or style == 'markdown'}
    equal(counts, {3}, f'{style}: cells of a label with bars')
    check(bar in p.stdout, f'{style}: escaped')
check('\\*\\_log\\_\\*' in render('markdown', nasty).stdout, 'markdown: stars and underscores escaped')

# What is wrong is said with file and place; nothing is printed.
for broken, word in (({'columns': ['a'], 'rows': [[1, 2]]}, '$.rows[0]'), ({'rows': []}, '$.columns'),
                     ({'columns': ['a'], 'rows': [[{}]]}, '$.rows[0][0]'), ([], '$')):
    p = render('plain', broken)
    check(p.returncode == 3 and word in p.stderr and not p.stdout, f'broken table: {p.returncode} {p.stderr}')
p = render('nostyle', nasty)
check(p.returncode == 2 and 'mmtests' in p.stderr, 'unknown style names the known ones')
more = copy.deepcopy(nasty)
more['rows'] = []
equal(render('grid', more).returncode, 0, 'no rows')
finish()
