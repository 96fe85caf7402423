# SPDX-License-Identifier: GPL-3.0-or-later
"""kab report: whatever is in the store, every style keeps its promises, and every printed percentage is the one
that the JSON of the same report gives."""
import csv
import io
import math
import random
import re
import shlex
import sqlite3
import statistics
import subprocess
import tempfile

from checks import check, equal, finish, near, render, run, strict

CLEAN = ['plain', 'grid', 'org', 'markdown', 'describe', 'runs', 'mmtests', 'norm', 'schedtests', 'fastpath', 'lkp',
         'percentiles', 'stacked', 'minmax', 'gain', 'perfstat', 'ministat']
HEAD = 'kernel,host,condition,case,row,boot,iteration,metric,unit,direction,value\n'


def rows_of(rng, kernels, loads, boots, iterations, metric='time', unit='s', direction='lower', level=2.0,
            spread=0.01, fail=(), case='pipe', conditions=('',), key='groups', places=4):
    out = []
    for k, kernel in enumerate(kernels):
        for condition in conditions:
            for load in loads:
                for b in range(boots):
                    mean = level * load * (1 + 0.03 * k) * rng.gauss(1, spread)
                    for i in range(iterations):
                        value = '%.*f' % (places, mean * rng.gauss(1, spread / 2))
                        if (kernel, load) in fail and (fail[kernel, load] is None or i < fail[kernel, load]):
                            value = 'fail'
                        out.append(f'{kernel},box,{condition},{case},{key}={load},{b},{i},{metric},{unit},'
                                   f'{direction},{value}')
    return out


def store(home, name, lines):
    p = run('import', '--csv', '-', '--name', name, stdin=HEAD + '\n'.join(lines) + '\n', home=home)
    if p.returncode not in (0, 5):
        with open(f'{home}/{name}.csv', 'w', encoding='utf-8') as f:
            f.write(HEAD + '\n'.join(lines) + '\n')
        p = run('import', '--csv', f'{home}/{name}.csv', '--name', name, home=home)
    check(p.returncode in (0, 5), f'import of {name}: {p.stderr}')


def away_from_zero(value, places):
    """Half away from zero on the exact value."""
    from decimal import ROUND_HALF_UP, Decimal
    return Decimal(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def lines_are_clean(text, what, width=76):
    check(text.isascii(), f'{what}: ASCII')
    check('\t' not in text and '\r' not in text, f'{what}: tabs')
    check(not re.search(r'[ ]$', text, re.M), f'{what}: trailing blanks')
    check(not re.search(r'(?<![\w.])-0(\.0+)?(?![\d.])', text), f'{what}: negative zero')
    check(not re.search(r'\b(nan|inf)\b', text, re.I), f'{what}: nan or inf')
    if width:
        wide = [x for x in text.split('\n') if len(x) > width]
        check(not wide, f'{what}: {len(wide[0]) if wide else 0} columns: {wide[:1]}')


def same_numbers(report, what):
    """Numbers of the JSON follow from the values in it."""
    for row in report['rows']:
        for s in row['sets']:
            if not s['values']:
                continue
            units = s['boot_means'] if s['over'] != 'iterations' else s['values']
            near(s['mean'], math.fsum(units) / len(units), f'{what}: mean')
            if len(units) > 1:
                near(s['stddev'], statistics.stdev(units), f'{what}: stddev', 1e-6)
            near(s['min'], min(s['values']), f'{what}: min')
            near(s['median'], statistics.median(s['values']), f'{what}: median')
        for c in row['comparisons']:
            if c['diff_pct'] is not None:
                want = 100 * (c['test_mean'] / c['base_mean'] - 1)
                near(c['diff_pct'], want, f'{what}: diff', 1e-6)
                if c['gain_pct'] is not None:
                    near(c['gain_pct'], -want if row['direction'] == 'lower' else want, f'{what}: gain', 1e-6)


def printed_percentages(text, report, what):
    """Each percentage that plain prints for a row is the stored gain, rounded."""
    found = 0
    for row in report['rows']:
        load = row['row'].split('=')[1]
        for c in row['comparisons']:
            if c['gain_pct'] is None or not row['carries_verdict']:
                continue
            for line in text.split('\n'):
                words = line.split()
                if load not in words[:2] or row['condition'] not in line:
                    continue
                for word in words:
                    m = re.fullmatch(r'([+-]\d+(?:\.(\d+))?)%', word)
                    if m and abs(float(m[1]) - c['gain_pct']) < 1.5:
                        want = away_from_zero(c['gain_pct'], len(m[2] or ''))
                        equal(float(m[1]), float(want), f'{what}: {line}')
                        found += 1
    check(found > 0, f'{what}: no percentage found')


def supported_digits(text, report, what):
    """A mean is printed with no more digits than its interval supports (two of the half width)."""
    for row in report['rows']:
        load = row['row'].split('=')[1]
        for line in text.split('\n'):
            if not re.match(rf'\s*{load}\s+[\d.]+ ', line):
                continue
            for s in row['sets']:
                if s['ci'] is None or s['ci'][1] == s['ci'][0]:
                    continue
                half = (s['ci'][1] - s['ci'][0]) / 2
                allowed = max(0, 1 - math.floor(math.log10(half)))
                for word in re.findall(r'(?<=\s)\d+\.\d+(?=\s)', line):
                    if abs(float(word) - s['mean']) < half / 2:
                        check(len(word.split('.')[1]) <= allowed, f'{what}: {word} +- {half}')


with tempfile.TemporaryDirectory() as home:
    rng = random.Random(11)
    store(home, 'two', rows_of(rng, ['tip', 'patched'], [1, 4, 16, 64], 6, 3))
    store(home, 'three', rows_of(rng, ['v6.12-rc1', 'v6.12-rc1-series-v1', 'v6.12-rc1-series-v2'], [1, 16], 5, 4,
                                 metric='ops', unit='1/s', direction='higher', level=123456, places=1))
    store(home, 'fails', rows_of(rng, ['tip', 'patched'], [1, 4, 16], 5, 5,
                                 fail={('patched', 4): 2, ('patched', 16): None}))
    store(home, 'one', rows_of(rng, ['tip', 'patched'], [1, 4], 1, 10))
    store(home, 'smt', rows_of(rng, ['tip', 'patched'], [1, 4], 5, 3, conditions=('smt=on', 'smt=off')))
    store(home, 'wide', rows_of(rng, ['a-kernel-with-a-rather-long-label-' + x for x in 'ab'], [1, 4], 5, 3,
                                case='stress-ng --cpu 2 | tee *_log_*', key='a_long_parameter_name'))
    plain_text = {}
    for name in ('two', 'three', 'fails', 'one', 'smt', 'wide'):
        p = run('report', name, '--format', 'json', home=home)
        report = strict(p.stdout)
        equal(p.returncode, 5 if name == 'fails' else 0, f'{name}: exit status')
        same_numbers(report, name)
        for style in CLEAN:
            p = run('report', name, '--style', style, home=home)
            what = f'{name} as {style}'
            equal(p.returncode, 5 if name == 'fails' else 0, f'{what}: exit status')
            lines_are_clean(p.stdout, what, 0 if style == 'markdown' else 76)
            check('HIGHER is better' in p.stdout if name == 'three' else 'LOWER is better' in p.stdout,
                  f'{what}: direction in capitals')
            if name == 'fails':
                check('fail 25/25' in p.stdout, f'{what}: all failed is a word')
                check('fail 10/25' in p.stdout, f'{what}: some failed is a word')
            if style == 'plain':
                plain_text[name] = p.stdout
                if name != 'wide':
                    printed_percentages(p.stdout, report, what)
                    supported_digits(p.stdout, report, what)
        # CSV: as many cells in each line as in the head, the same numbers.
        table = list(csv.DictReader(io.StringIO(run('report', name, '--format', 'csv', home=home).stdout, newline='')))
        equal(len(table), sum(len(r['sets']) for r in report['rows']), f'{name}: lines of the CSV')
        check(all(None not in line and None not in line.values() for line in table), f'{name}: cells of the CSV')
        flat = [(s, c) for r in report['rows'] for s, c in zip(r['sets'], [None] + r['comparisons'])]
        for line, (s, c) in zip(table, flat):
            equal(float(line['mean']) if line['mean'] else None, s['mean'], f'{name}: mean in CSV and JSON')
            if c:
                equal(float(line['gain_pct']) if line['gain_pct'] else None, c['gain_pct'],
                      f'{name}: gain in CSV and JSON')
                equal(line['verdict'], c['verdict'], f'{name}: verdict in CSV and JSON')
        # The summary counts what the rows say.
        for n, s in enumerate(report['summary']):
            seen = [r['comparisons'][n]['verdict'] for r in report['rows'] if r['carries_verdict']]
            for word in ('improved', 'regressed', 'equivalent', 'inconclusive', 'failed', 'missing'):
                equal(s[word], seen.count(word), f'{name}: summary, {word}')
            equal(s['rows'], len(seen), f'{name}: summary, rows')
            flat_text = ' '.join(plain_text[name].split())
            check(s['text'] in flat_text, f'{name}: summary line')

    # Conditions side by side: the same gains, a row per load.
    for style in ('plain', 'grid', 'markdown'):
        text = run('report', 'smt', '--side', 'condition', '--style', style, home=home).stdout
        lines_are_clean(text, f'side by side, {style}', 0 if style == 'markdown' else 76)
        check('smt=on' in text.replace('\\', '') and 'smt=off' in text.replace('\\', ''), f'side by side, {style}')
        smt = strict(run('report', 'smt', '--format', 'json', home=home).stdout)
        for load in ('1', '4'):
            line = next(x for x in text.split('\n') if x.strip(' |').split()[:1] == [load] and '%' in x)
            got = [float(x) for x in re.findall(r'([+-]\d+(?:\.\d+)?)%', line)]
            want = [r['comparisons'][0]['gain_pct'] for r in smt['rows'] if r['row'] == f'groups={load}']
            check(len(got) == 2 and all(abs(g - w) <= 0.5 for g, w in zip(got, want)),
                  f'side by side, {style}: {got} {want}')

    # One boot: said so, no mark, no p.
    report = strict(run('report', 'one', '--format', 'json', home=home).stdout)
    for row in report['rows']:
        c = row['comparisons'][0]
        equal((c['verdict'], c['reason'], c['mark'], c['p'], c['within_one_boot']),
              ('inconclusive', 'one boot', '', None, True), 'one boot')
    check('n=10 in one boot' in plain_text['one'] and '5 boots or more' in plain_text['one'], 'one boot: head and remedy')
    check('n=6 boots x 3' in plain_text['two'], 'several boots: head')
    check('geometric mean' in plain_text['fails'] and '2 of 3 rows' in plain_text['fails'], 'geometric mean counts rows')

    # Intervals are the last to go: three kernels become two tables that have them, even beside a failure.
    store(home, 'split', rows_of(rng, ['tip-of-tree', 'series-v1', 'series-v2'], [1, 4], 5, 3, fail={('series-v2', 4): 1}))
    text = run('report', 'split', home=home).stdout
    tables = re.split('95%\\s+CI', text)
    equal(len(tables), 3, 'three kernels: two tables with intervals')
    check(all(x.count('unadjusted') == 1 for x in tables[:2]), 'three kernels: legends speak of intervals')
    check('fail K/N' not in tables[0] and 'fail K/N: K of N planned' in tables[1], 'the legend of failures where one is')
    check('fail 5/15' in tables[2] and 'missing' not in text, 'three kernels: failures')
    check('fail' not in plain_text['two'] and 'K/N' not in plain_text['two'], 'no failure, no legend of it')
    for run_name in ('split', 'two', 'fails', 'three'):
        blocks = (text if run_name == 'split' else plain_text[run_name]).split('\n\n')
        for head, table in zip(blocks, blocks[1:]):
            if 'gain = ' in head:
                equal('+/- is' in head, '+/-' in table, f'{run_name}: the legend of +/- where it is')
    # Noise without bounds: said in the cell, and the gain has no decimals that nothing supports.
    lines = []
    for kernel, values in (('tip', (0.4, 0.1, 9.5, 0.2)), ('patched', (1.5, 7.25, 0.6, 0.9))):
        for b, value in enumerate(values):
            lines += [f'{kernel},box,,pipe,n=1,{b},0,time,s,lower,{value}',
                      f'{kernel},box,,pipe,n=2,{b},0,time,s,lower,{10 + value / 100}']
    store(home, 'unbounded', lines)
    text = run('report', 'unbounded', home=home).stdout
    line = next(x for x in text.split('\n') if x.split()[:1] == ['1'])
    check(re.search(r' [+-]\d+% +\? +\[n/a\]$', line), f'unbounded: {line}')
    check('no bounds' in text, 'unbounded: a note')
    # Significant alone (t 2.78, df 10), not among five: a note, since the interval is without 0.
    pattern = (-1, -.6, -.2, .2, .6, 1)
    store(home, 'holm', [f'{k},box,,pipe,n={n},{b},0,time,s,lower,{5 + z / 10 + (k == "patched" and n == 2) * .12:.3f}'
                         for k in ('tip', 'patched') for n in (1, 2, 3, 4, 5) for b, z in enumerate(pattern)])
    text = run('report', 'holm', home=home).stdout
    notes = re.findall('^note: (.*)', text, re.M)
    check(len(notes) == 1 and re.fullmatch(r'n=2: not significant after Holm: p 0\.09\d', notes[0]), f'Holm: {notes}')
    check('after' not in run('report', 'holm', '--correction', 'none', home=home).stdout, 'no correction, no such note')
    # One cause is one note, whatever the number of rows.
    store(home, 'dead', rows_of(rng, ['tip', 'patched'], [1, 4, 16], 2, 2,
                                fail={(k, n): None for k in ('tip', 'patched') for n in (1, 4, 16)}))
    notes = re.findall('^note: .*(?:\n +.*)*', run('report', 'dead', home=home).stdout, re.M)
    equal(len(notes), 1, f'one cause, one note: {notes}')
    check(notes and "failed on 'tip' and 'patched'" in ' '.join(notes[0].split()), f'both kernels are named: {notes}')
    # An import knows nothing of machine and kernels: one line for all of it.
    check('unknown' not in plain_text['two'] and plain_text['two'].startswith('Facts   : '), 'imports: one line')
    # What has no direction is described as what it is, over boots, without a test.
    store(home, 'undirected', rows_of(rng, ['tip', 'patched'], [1, 4], 5, 3, direction='none'))
    text = run('report', 'undirected', home=home).stdout
    check('Stats   : mean of boot means, no test' in text and 'Other metrics' in text, 'no direction')
    store(home, 'small', [f'{k},box,,wake,n=1,{b},0,latency,s,lower,{m * 2.3e-4 * rng.gauss(1, .01):.10f}'
                          for k, m in (('tip', 1), ('patched', 1.05)) for b in range(5)])
    # Legends of styles tell of what they print.
    for style in CLEAN:
        text = run('report', 'two', '--style', style, home=home).stdout
        equal('I improved' in text, style in ('plain', 'grid', 'org', 'markdown', 'minmax', 'fastpath'), f'{style}: marks in the legend')
        equal('intervals unadjusted' in ' '.join(text.split()), style in ('plain', 'grid', 'org', 'markdown'),
              f'{style}: intervals in the legend')
    check('count is of iterations, std over boot means' in run('report', 'two', '--style', 'describe', home=home).stdout,
          'describe: count and std')
    check('N is of iterations, Stddev over boot means' in run('report', 'two', '--style', 'ministat', home=home).stdout,
          'ministat: N and Stddev')
    check(re.search(r' 0\.0002\d+, +0\.0002\d+\(', run('report', 'small', '--style', 'gain', home=home).stdout), 'gain: small values')
    # Where there is no word for so small or large a unit, a power of ten stands before it; never 0.00, never noise.
    for name, size in (('atoms', 3.1e-13), ('stars', 4.4e12)):
        store(home, name, [f'{k},box,,c,n=1,{b},0,count,things,higher,{size * m * rng.gauss(1, .01)!r}'
                           for k, m in (('tip', 1), ('patched', 1.05)) for b in range(5)])
        text = run('report', name, home=home).stdout
        found = re.search(r'count \(10\^(-?\d+) things\)', text)
        check(found, f'{name}: {text}')
        mean = re.search(r'^(?:c|1) +([\d.]+) ', text, re.M)[1]
        check(len(mean) <= 6 and abs(float(mean) * 10 ** int(found[1]) / size - 1) < .05, f'{name}: {mean}')
    # A style that knows columns by name does not print other tables without their numbers.
    table = {'columns': ['groups', 'before', 'after'], 'rows': [[1, 2.5, 2.25]]}
    for style in ('lkp', 'gain', 'perfstat', 'ministat', 'stacked'):
        p = render(style, table)
        equal((p.returncode, p.stdout), (3, ''), f'render {style}: refused')
        check('needs a column' in p.stderr, f'render {style}: {p.stderr}')
    for style in ('plain', 'grid', 'org', 'markdown', 'minmax'):
        p = render(style, table)
        check(p.returncode == 0 and '2.5' in p.stdout and '2.25' in p.stdout, f'render {style}: {p.stdout}')
    # What disturbed the run is in the head, in JSON too; the command can be pasted.
    check('Quiet' not in plain_text['two'], 'nothing seen, nothing said')
    db = sqlite3.connect(f'{home}/kab.db')
    two = db.execute("SELECT id FROM run WHERE name = 'two'").fetchone()[0]
    boot, label = db.execute('SELECT b.id, k.label FROM boot b JOIN run_kernel k ON k.id = b.run_kernel_id'
                             ' WHERE b.run_id = ? ORDER BY k.position DESC, b.id LIMIT 1', (two,)).fetchone()
    quiet = f"no, make uses 1.9 CPUs; 1 unexpected reboot of '{label}'"
    for kind, what in (('not-quiet', 'make uses 1.9 CPUs'), ('unexpected-reboot', 'the host restarted by itself')):
        db.execute('INSERT INTO event (run_id, boot_id, wall_ns, kind, text) VALUES (?, ?, 1, ?, ?)',
                   (two, boot, kind, what))
    command = 'kab run suite --kernel base=running --kernel \'a=running;cmdline=x y\' --boots 12 --iterations 30 --seed 41'
    db.execute('UPDATE run SET command_line = ? WHERE id = ?', (command + ' --wait 3', two))
    db.commit()
    db.close()
    text = run('report', 'two', home=home).stdout
    check(f'\nQuiet   : {quiet}\n' in text, 'a busy host is disclosed')
    report = strict(run('report', 'two', '--format', 'json', home=home).stdout)
    equal(report['preamble']['quiet'], quiet, 'a busy host: JSON')
    lines_are_clean(text, 'reproduce')
    pasted = text[text.index('Reproduce:\n') + len('Reproduce:\n'):]
    check(pasted.count('\n') > 1 and max(map(len, pasted.split('\n'))) <= 72, f'reproduce is wrapped: {pasted}')
    words = subprocess.run(['sh', '-c', 'kab() { printf "%s\\n" kab "$@"; }\n' + pasted], capture_output=True, text=True).stdout
    equal(words.split('\n')[:-1], shlex.split(command), 'reproduce can be pasted')
    # Three boots against one: the head says what holds for which side, and there is no interval.
    store(home, 'uneven', rows_of(rng, ['tip'], [1, 4], 3, 3) + rows_of(rng, ['patched'], [1, 4], 1, 3))
    text = ' '.join(run('report', 'uneven', home=home).stdout.split())
    check('over iterations where there is one boot' in text and 'no interval where a side has one boot' in text and
          'per kernel' not in text and 'CI' not in text, 'uneven boots')
    equal(strict(run('report', 'uneven', '--format', 'json', home=home).stdout)['rows'][0]['comparisons'][0]['gain_ci_pct'],
          None, 'uneven boots: no interval')
    text = run('report', 'one', '--explain', 'groups=4', home=home).stdout
    check('5 boots or more a side' in text and 'would resolve' not in text, 'explain: no number from one boot')

    # Options.
    p = run('report', 'two', '--gate', home=home)
    equal(p.returncode, 1, 'gate: regressed')
    equal(run('report', 'fails', '--gate', home=home).returncode, 5, 'gate: failures win')
    equal(run('report', 'nosuchrun', '--gate', home=home).returncode, 3, 'gate: unknown run')
    equal(run('report', 'two', '--gate', '--correction', 'holms', home=home).returncode, 2, 'gate: bad option')
    equal(run('report', 'two', '--style', 'fancy', home=home).returncode, 2, 'unknown style')
    equal(run('report', 'two', '--metric', 'latency', home=home).returncode, 3, 'unknown metric')
    p = run('report', 'two', '--margin', '10', '--format', 'json', home=home)
    check(all(c['verdict'] == 'equivalent' for r in strict(p.stdout)['rows'] for c in r['comparisons']), 'wide margin')
    a = strict(run('report', 'two', '--format', 'json', home=home).stdout)
    b = strict(run('report', 'two', '--confidence', '99', '--format', 'json', home=home).stdout)
    for x, y in zip(a['rows'], b['rows']):
        inner, outer = x['comparisons'][0]['gain_ci_pct'], y['comparisons'][0]['gain_ci_pct']
        check(outer[0] < inner[0] and outer[1] > inner[1], '99 % is wider than 95 %')
    # Holm by hand over the rows.
    pairs = sorted((r['comparisons'][0]['p'], r['comparisons'][0]['p_adjusted']) for r in a['rows'])
    run_max = 0
    for i, (raw, adjusted) in enumerate(pairs):
        run_max = max(run_max, min(1, raw * (len(pairs) - i)))
        near(adjusted, run_max, 'Holm', 1e-9)
    for kind, text in (('sd', 'standard deviation'), ('sem', 'standard error'), ('ci95', 'interval of the mean')):
        check(text in ' '.join(run('report', 'two', '--pm', kind, home=home).stdout.split()), f'--pm {kind} changes the legend')
    p = run('report', 'two', '--explain', 'groups=4', home=home)
    check('means of each' in p.stdout and 'p after holm over 4' in p.stdout and 'nan' not in p.stdout, 'explain')
    # The interval of equivalence is at the level that stands before it: 98 % is the wider one.
    wide = run('report', 'two', '--explain', 'groups=4', '--confidence', '99', home=home).stdout
    found = [re.search(level + r' % interval of the ratio \(equivalence\): \[([\d.]+), ([\d.]+)\]', text)
             for level, text in (('90', p.stdout), ('98', wide))]
    check(all(found) and float(found[1][1]) < float(found[0][1]) and float(found[1][2]) > float(found[0][2]),
          'explain: the level of the interval of equivalence')
    p = run('report', 'two', '--explain', 'groups=5', home=home)
    equal(p.returncode, 3, 'explain an unknown row')
    p = run('report', 'two', '--explain', 'what is not there', home=home)
    equal(p.returncode, 3, 'explain a row that is not there')
    check('no row \'what is not there\'; there is: ' in p.stderr and 'groups=4' in p.stderr, 'explain: names the rows')
    short = run('report', 'two', '--short', home=home).stdout.split('\n')
    check([x.split()[0] for x in short[:3]] == ['Machine', 'Kernels', 'Bench'] or 'Machine' in short[0], 'short form')
    p = run('report', 'wide', '--wide', home=home)
    check(max(map(len, p.stdout.split('\n'))) > 76, '--wide forces')

    # compare: kernels of two runs; unpaired, said so, rows of one side are missing.
    p = run('compare', 'two:tip', 'smt:patched', home=home)
    check('missing' in p.stdout and p.returncode == 5, 'compare: rows that one side does not have')
    p = run('compare', 'two:tip', 'two:patched', '--format', 'json', home=home)
    equal([r['comparisons'][0]['gain_pct'] for r in strict(p.stdout)['rows']],
          [r['comparisons'][0]['gain_pct'] for r in a['rows']], 'compare within a run is its report')
    p = run('compare', 'two:patched', 'two:tip', '--format', 'json', home=home)
    for x, y in zip(a['rows'], strict(p.stdout)['rows']):
        near(1 / x['comparisons'][0]['ratio'], y['comparisons'][0]['ratio'], 'compare the other way round', 1e-9)
    equal(run('compare', 'two:tip', home=home).returncode, 2, 'compare: one kernel only')
    equal(run('compare', 'two:tip', 'two:nosuch', home=home).returncode, 3, 'compare: unknown kernel')

    # A class run: a family of metrics is one table; what stopped early is missing, and counted.
    parts = ['cpu', 'vm', 'fork', 'pipe', 'switch', 'mutex', 'futex', 'sem', 'timer', 'hdd', 'cache', 'zlib']
    for kernel, n in (('base', 12), ('patched', 9)):
        store(home, f'class-{kernel}', [f'{kernel},box,,class,,{b},0,{part}.bogo_ops,1/s,higher,{1000 * rng.gauss(1, .01):.2f}'
                                        for part in parts[:n] for b in range(5)])
    p = run('compare', 'class-base', 'class-patched', home=home)
    equal(p.returncode, 5, 'class run: exit status')
    lines_are_clean(p.stdout, 'class run')
    check('over 9 of 12 rows' in p.stdout, 'class run: geometric mean counts its rows')
    check('12 rows:' in p.stdout and '3 missing' in ' '.join(p.stdout.split()), 'class run: summary')
    equal([x.split()[0] for x in p.stdout.split('\n') if '+/-' in x and 'gain' not in x], parts, 'class run: rows')

    # Times far from one get another unit; JSON keeps the measured one; digits stay within the interval.
    store(home, 'units', [f'{k},box,,wake,n={n},{b},0,latency,s,lower,{m * n * 3.1e-5 * rng.gauss(1, .01):.10f}'
                          for k, m in (('tip', 1), ('patched', 1.05)) for n in (1, 2) for b in range(5)])
    text = run('report', 'units', home=home).stdout
    report = strict(run('report', 'units', '--format', 'json', home=home).stdout)
    check('latency (us)' in text and report['rows'][0]['unit'] == 's', 'units: microseconds')
    for row in report['rows']:
        for s in row['sets']:
            half = 1e6 * (s['ci'][1] - s['ci'][0]) / 2
            want = away_from_zero(1e6 * s['mean'], max(0, 1 - math.floor(math.log10(half))))
            check(re.search(rf'(?<![\d.]){want}(?![\d.])', text), f'units: {want}')

    # Down to zero, up from zero, nothing at all.
    lines = []
    for row, base, test in (('n=1', 3069448, 0), ('n=2', 0, 0), ('n=3', 0, 100)):
        for kernel, v in (('tip', base), ('patched', test)):
            lines += [f'{kernel},box,,errors,{row},{b},{i},count,,lower,{v}' for b in range(5) for i in range(2)]
    lines += [f'tip,box,,errors,n=4,{b},0,count,,lower,5' for b in range(5)]
    for k in ('tip', 'patched'):
        lines += [f'{k},box,,lat,,{b},{i},p95,ms,lower,0.00' for b in range(5) for i in range(2)]
    store(home, 'zero', lines)
    p = run('report', 'zero', home=home)
    lines_are_clean(p.stdout, 'zeros')
    check(not re.search(r'[+-]0\.00%', p.stdout.replace('+0.00%', '', 1)) and '+100.00%' in p.stdout, 'zeros: percent')
    check('base is 0' in p.stdout and 'missing' in p.stdout and 'below resolution' in p.stdout, 'zeros: words')
    report = strict(run('report', 'zero', '--format', 'json', home=home).stdout)
    rows = {(r['case'], r['row']): r['comparisons'][0] for r in report['rows']}
    equal(rows['errors', 'n=1']['gain_pct'], 100, 'down to zero')
    equal(rows['errors', 'n=2']['verdict'], 'equivalent', 'zero to zero: identical')
    check('identical' in rows['errors', 'n=2']['reason'], 'zero to zero: identical, in words')
    equal((rows['errors', 'n=3']['gain_pct'], rows['errors', 'n=3']['gate']), (None, True), 'up from zero')
    equal(rows['errors', 'n=4']['verdict'], 'missing', 'nothing on one side')
    equal(rows['lat', '']['verdict'], 'below resolution', 'times printed as zero')
finish()
