# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of five mails, made by kab from their numbers. Where a mail is wrong, kab is right: the stddev rows of
the stress-ng mail are twice the sample standard deviation."""
import json
import re
import statistics
import tempfile

from checks import TABLES, check, equal, finish, near, run, strict

data = json.load(open(TABLES, encoding='utf-8'))
series = {s['id']: s for s in data['raw_series']}
HEAD = 'kernel,case,row,iteration,metric,unit,direction,value\n'


def store(home, name, lines):
    path = f'{home}/{name}.csv'
    with open(path, 'w', encoding='utf-8') as f:
        f.write(HEAD + '\n'.join(lines) + '\n')
    p = run('import', '--csv', path, '--name', name, home=home)
    equal(p.returncode, 0, f'import of {name}: {p.stderr}')


with tempfile.TemporaryDirectory() as home:
    # stress-ng, five runs of three figures per kernel.
    lines = []
    for s, kernel in (('stress-ng-6.4.0', '6.4.0'), ('stress-ng-6.4.0-patched', '6.4.0-patched')):
        for i, values in enumerate(series[s]['runs']):
            for metric, value in zip(('completion', 'user', 'sys'), values):
                lines.append(f'{kernel},stress-ng,,{i},{metric},s,lower,{value}')
    store(home, 'stress-ng', lines)
    text = run('report', 'stress-ng', '--style', 'runs', home=home).stdout
    for s in ('stress-ng-6.4.0', 'stress-ng-6.4.0-patched'):
        for column in range(3):
            values = [r[column] for r in series[s]['runs']]
            right = '%.4g' % statistics.stdev(values)
            near(statistics.stdev(values), series[s]['sample_sd'][column], 'the file has the sample sd', 1e-4)
            check(re.search(rf'\| *{re.escape(right)}\d* *\|.*stddev$', text, re.M), f'{s}: stddev {right}')
            wrong = '%.4g' % float(series[s]['shown_stddev'][column])
            check(wrong not in text, f'{s}: {wrong} is not the stddev')
            mean = statistics.mean(values)
            check(re.search(rf'\| *{mean:.3f}\d* *\|.*average$', text, re.M), f'{s}: average {mean}')
            for value in values:
                check(re.search(rf'\| *{value:.2f} *\|', text), f'{s}: run {value}')
    check('0.1394' in text and '0.2788' not in text, 'sys of 6.4.0: 0.1394')
    equal(len(re.findall(r'^\|.*\|$', text, re.M)), 2 * (2 + 5), 'a row per run')
    # What the mail concludes from it is not shown by it: Welch t -1.71, df 4.5.
    report = strict(run('report', 'stress-ng', '--metric', 'sys', '--format', 'json', home=home).stdout)
    equal(report['rows'][0]['comparisons'][0]['verdict'], 'inconclusive', 'sys: not shown')

    # specjbb: the blocks that pandas printed, unequal n.
    lines = []
    for s, kernel in (('specjbb-smtoff-base', 'baseline'), ('specjbb-smtoff-patched', 'patches')):
        for i, value in enumerate(series[s]['runs']):
            lines.append(f'{kernel},specjbb,,{i},critical-jOPS,jOPS,higher,{value}')
    store(home, 'specjbb', lines)
    text = run('report', 'specjbb', '--style', 'describe', home=home).stdout
    for s in ('specjbb-smtoff-base', 'specjbb-smtoff-patched'):
        equal(text.count('  count %15d\n' % len(series[s]['runs'])), 1, f'{s}: count')
        for statistic, shown in series[s]['shown'].items():
            check('  %-5s %15s\n' % (statistic, shown) in text, f'{s}: {statistic} {shown}')
    check('HIGHER is better' in text, 'specjbb: direction')
    text = run('report', 'specjbb', home=home).stdout
    check(re.search(r'n=4\.\.5, boots unknown', text), 'specjbb: n of both')
    check('inconclusive (boots' in text, 'specjbb: nobody said which boots')

    # hackbench over groups: mean and relative stddev as in the mail, from eight values that have them.
    table = next(t for t in data['tables'] if t['style'] == 'plain')
    pattern = [-1.3, -0.8, -0.4, -0.1, 0.1, 0.4, 0.8, 1.3]
    unit = statistics.stdev(pattern)
    lines = []
    for label, *numbers in table['rows']:
        groups = label.split()[0]
        for kernel, (mean, rsd) in (('tip', numbers[:2]), ('patchset', numbers[2:4])):
            for i, z in enumerate(pattern):
                lines.append(f'{kernel},hackbench,groups={groups},{i},time,s,lower,{mean + z / unit * mean * rsd / 100:.9f}')
    store(home, 'hackbench', lines)
    report = strict(run('report', 'hackbench', '--format', 'json', home=home).stdout)
    text = run('report', 'hackbench', home=home).stdout
    equal(len(report['rows']), len(table['rows']), 'hackbench: rows')
    for row, (label, base, base_rsd, test, test_rsd, shown) in zip(report['rows'], table['rows']):
        near(row['sets'][0]['mean'], base, f'{label}: base mean', 1e-7)
        near(row['sets'][0]['cv_pct'], base_rsd, f'{label}: base CV', 1e-5)
        near(row['sets'][1]['cv_pct'], test_rsd, f'{label}: test CV', 1e-5)
        near(row['comparisons'][0]['gain_pct'], 100 * (base - test) / base, f'{label}: gain', 1e-5)
        check(abs(row['comparisons'][0]['gain_pct'] - shown) < 0.1, f'{label}: the mail says {shown}')
        line = next(x for x in text.split('\n') if x.split()[:1] == [label.split()[0]])
        check(f'+/- {base_rsd:4.1f}%' in line or f'+/- {base_rsd:.1f}%' in line, f'{label}: {line}')

    # hackbench under a background load: a grid with stddev in its own column.
    table = next(t for t in data['tables'] if t['style'] == 'grid')
    lines = []
    for groups, fds, _, base, base_sd, test, _, test_sd in table['rows']:
        for kernel, mean, sd in (('without', base, base_sd), ('with', test, test_sd)):
            for i, z in enumerate(pattern):
                value = float(mean) + z / unit * float(sd)
                lines.append(f'{kernel},hackbench-rt,"groups={groups},fds={fds}",{i},time,s,lower,{value:.9f}')
    store(home, 'rt', lines)
    text = run('report', 'rt', '--style', 'grid', '--pm', 'sd', home=home).stdout
    rows = [x for x in text.split('\n') if x.startswith('|')]
    equal(len({len(x) for x in rows}), 1, 'grid: rows of equal length')
    rules = [x for x in text.split('\n') if x.startswith('+')]
    equal({len(x) for x in rules}, {len(rows[0])}, 'grid: rules as long as rows')
    check('fds=8' in text and not any('fds' in x for x in rows), 'grid: what never changes is in the title')
    report = strict(run('report', 'rt', '--format', 'json', home=home).stdout)
    for row, (_, _, _, base, _, test, shown, _) in zip(report['rows'], table['rows']):
        gain = row['comparisons'][0]['gain_pct']
        near(gain, 100 * (float(base) - float(test)) / float(base), 'rt: gain', 1e-5)
        # 30.77 was printed as +30.7 there; here it is rounded.
        check(abs(gain - float(shown.rstrip('%'))) < 0.1, f'rt: the mail says {shown}')

    # sysbench: several metrics, the total judged, the others beside it.
    lines = []
    for kernel, figures in (('tip', (172, 1.337, 21.191)), ('patchset', (158, 1.244, 10.753))):
        for i in range(15):
            for (metric, direction), value in zip((('total', 'lower'), ('avg', 'none'), ('max', 'none')), figures):
                lines.append(f'{kernel},sysbench,,{i},{metric},ms,{direction},{value * (1 + (i - 7) / 500):.6f}')
    store(home, 'sysbench', lines)
    text = run('report', 'sysbench', home=home).stdout
    check('Other metrics' not in text and 'avg (ms)' not in text, 'sysbench: judged metrics by default')
    check('\n2 rows of other metrics stored, not judged: --all shows them\n' in text, 'sysbench: what else there is')
    equal(run('report', 'sysbench', '--judged', home=home).stdout, text, 'sysbench: --judged is the default')
    text = run('report', 'sysbench', '--all', home=home).stdout
    check('Other metrics of sysbench' in text and 'avg (ms)' in text and 'max (ms)' in text, 'sysbench: other metrics')
    check(re.search(r'\+8\.\d+%|\+8%', text), 'sysbench: 172 to 158 ms')
finish()
