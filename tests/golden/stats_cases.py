# SPDX-License-Identifier: GPL-3.0-or-later
"""Situations in which benchmark tools have misled their users, through kab stats and kab import + report / compare."""
import bisect
import math
import os
import random
import re
import statistics
import tempfile

from checks import check, equal, finish, near, run, strict

try:
    from scipy import stats as scipy_stats
except ImportError:
    scipy_stats = None

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'runners')
HEAD = 'kernel,case,boot,iteration,metric,unit,direction,value'


def write(name, text):
    with open(name, 'w', encoding='utf-8') as f:
        f.write(text)
    return name


def values(name, numbers):
    return write(name, ''.join(f'{x!r}\n' for x in numbers))


def runner_output(name):
    with open(os.path.join(DATA, name), encoding='utf-8') as f:
        return f.read()


def imported(name, rows):
    """rows: (kernel, case, boot, iteration, metric, unit, direction, value)."""
    text = '\n'.join([HEAD] + [','.join(str(x) for x in r) for r in rows]) + '\n'
    p = run('import', '--csv', '-', '--name', name, stdin=text, home='.')
    equal(p.returncode, 0, f'import of {name}: {p.stderr}')


def report(name, *more, command='report'):
    """The JSON of a report by case (or metric), and the same as text."""
    p = run(command, name, *more, '--format', 'json', home='.')
    return p.returncode, strict(p.stdout), run(command, name, '--all', *more, home='.').stdout


def comparison(doc, case, metric=None):
    found = [r for r in doc['rows'] if r['case'] == case and metric in (None, r['metric'])]
    equal(len(found), 1, f'one row of {case} {metric}')
    return found[0]['comparisons'][0]


def one_line(text):
    return ' '.join(text.split())


def no_lies(text, what):
    check(not re.search(r'\b(nan|inf)\b', text, re.I), f'{what}: nan or inf')
    check(not re.search(r'(?<![\d.])0\.00 ?%', text), f'{what}: a change of nothing')


def unequal_numbers():
    a, b = [10.0, 10.2], [11.0, 11.3, 10.9]
    values('a', a)
    values('b', b)
    c = strict(run('stats', '--json', '--direction', 'lower', 'a', 'b').stdout)['comparisons'][0]
    check(abs(c['welch']['t'] - 6.18) < 0.005, 'unequal: t')
    check(abs(c['welch']['p'] - 0.0092) < 0.00005, 'unequal: p')
    near(c['mann_whitney']['p'], 0.2, 'unequal: exact U', 1e-12)
    equal(c['mann_whitney']['exact'], True, 'unequal: exact U')
    if scipy_stats:
        t = scipy_stats.ttest_ind(b, a, equal_var=False)
        near(c['welch']['t'], t.statistic, 'unequal: t of scipy')
        near(c['welch']['p'], t.pvalue, 'unequal: p of scipy')
        near(c['mann_whitney']['p'], scipy_stats.mannwhitneyu(b, a, method='exact').pvalue, 'unequal: U of scipy')
    text = one_line(run('stats', '--direction', 'lower', 'a', 'b').stdout)
    check('2 against 3 values cannot go below p 0.2' in text, 'unequal: the floor is said')
    imported('unequal', [(k, 'c', i, 1, 'time', 's', 'lower', x) for k, v in (('base', a), ('patched', b))
                         for i, x in enumerate(v)])
    _, doc, _ = report('unequal')
    c = comparison(doc, 'c')
    near(c['mann_whitney_p'], 0.2, 'unequal: U of the report', 1e-12)
    equal([len(s['values']) for s in doc['rows'][0]['sets']], [2, 3], 'unequal: all values are used')
    near(c['ratio'], 11.066666666666666 / 10.1, 'unequal: ratio', 1e-12)
    check('cannot reach the level with so few' in run('report', 'unequal', '--explain', 'time', home='.').stdout,
          'unequal: explained')


def one_value():
    values('one', [10.5])
    values('two', [11.5])
    doc = strict(run('stats', '--json', '--direction', 'lower', 'one', 'two').stdout)
    c, s = doc['comparisons'][0], doc['samples'][0]
    equal((c['verdict'], c['reason']), ('inconclusive', 'one value'), 'one value: verdict')
    near(c['delta_pct'], 100 * (11.5 / 10.5 - 1), 'one value: estimate', 1e-12)
    equal((c['ratio_ci95'], c['welch']['p'], c['ratio_test']['p'], s['ci95'], s['stddev'], s['sem'], s['cv_pct']),
          (None,) * 7, 'one value: nothing made up')
    text = run('stats', '--direction', 'lower', 'one', 'two').stdout
    check('inconclusive (one value)' in text and 'One value has no spread' in text, 'one value: said, with the remedy')
    no_lies(text, 'one value')
    rng = random.Random(3)
    imported('oneboot', [(k, 'c', 1, i, 'time', 's', 'lower', round(rng.gauss(level, 0.1), 4))
                         for k, level in (('base', 10), ('patched', 11)) for i in range(1, 11)])
    status, doc, text = report('oneboot', '--gate')
    c = comparison(doc, 'c')
    equal((status, c['verdict'], c['reason'], c['mark'], c['p'], c['within_one_boot']),
          (0, 'inconclusive', 'one boot', '', None, True), 'one boot: verdict')
    check(c['gain_ci_pct'][0] < c['gain_pct'] < c['gain_ci_pct'][1], 'one boot: iteration-level interval')
    flat = one_line(text)
    check('inconclusive (one boot)' in flat and 'within one boot only' in flat and
          '5 boots or more (--boots) allow a test' in flat,
          'one boot: said, with the remedy')
    check(not re.search(r'% [IR=?]$', text, re.M), 'one boot: no mark')


def zeros():
    for name, x in (('z', 0), ('y', 0), ('h', 100), ('m', 3069448)):
        values(name, [x])
    for base, test, gain, word in (('m', 'z', 100, '+100.00 %'), ('z', 'y', None, 'identical'),
                                   ('z', 'h', None, 'base is 0')):
        c = strict(run('stats', '--json', '--direction', 'lower', base, test).stdout)['comparisons'][0]
        equal(c['gain_pct'], gain, f'zeros: {base} to {test}')
        text = run('stats', '--direction', 'lower', base, test).stdout
        check(word in text, f'zeros: {base} to {test} in words')
        no_lies(text, f'zeros: {base} to {test}')
    for unit in ('ns', 'count'):
        rows = []
        for b in range(1, 6):
            for case, base, test in (('down', 3069448, 0), ('none', 0, 0), ('up', 0, 100), ('gone', 7 + b, None)):
                rows.append(('base', case, b, 1, 'latency', unit, 'lower', base))
                if test is not None:
                    rows.append(('patched', case, b, 1, 'latency', unit, 'lower', test))
        imported('zero-' + unit, rows)
        status, doc, text = report('zero-' + unit, '--gate')
        c = comparison(doc, 'down')
        equal((c['gain_pct'], c['verdict'], c['gate']), (100, 'improved', False), f'zeros in {unit}: down')
        c = comparison(doc, 'none')
        equal((c['gain_pct'], c['gate']), (None, False), f'zeros in {unit}: none')
        equal(c['verdict'], 'below resolution' if unit == 'ns' else 'equivalent', f'zeros in {unit}: none')
        check('identical' in c['reason'], f'zeros in {unit}: none: {c["reason"]}')
        c = comparison(doc, 'up')
        equal((c['gain_pct'], c['ratio'], c['verdict'], c['gate']), (None, None, 'regressed', True), f'zeros in {unit}: up')
        check('base is 0' in c['reason'] + (c['warning'] or ''), f'zeros in {unit}: up is explained')
        equal(comparison(doc, 'gone')['verdict'], 'missing', f'zeros in {unit}: gone')
        equal(status, 5, f'zeros in {unit}: what is missing wins over the gate')
        check('+100.00%' in text and 'base is 0' in text and 'missing' in text, f'zeros in {unit}: in words')
        no_lies(text, f'zeros in {unit}')
        imported('up-' + unit, [r for r in rows if r[1] == 'up'])
        equal(report('up-' + unit, '--gate')[0], 1, f'zeros in {unit}: the gate sees a rise from 0')
        equal(report('up-' + unit)[0], 0, f'zeros in {unit}: without the gate')
        one = [r for r in rows if r[1] == 'up' and r[2] == 1]
        imported('up1-' + unit, one)
        equal(report('up1-' + unit, '--gate')[0], 1, f'zeros in {unit}: with one boot too')


def no_work():
    metrics = runner_output('stress-ng-0.15.06-metrics-brief.txt')
    head = ''.join(metrics.splitlines(True)[:4])
    zero = head + ('stress-ng: info:  [1] WARNING: all bogo operation counters are zero\n'
                   'stress-ng: metrc: [1] vm                    0   7200.10      0.00      0.00         0.00         0.00\n')
    skipped = head + 'stress-ng: info:  [1] skipped: 16: vm (16)\nstress-ng: info:  [1] passed: 0, skipped: 16\n'
    write('ok.log', metrics)
    write('zero.log', zero)
    write('skipped.log', skipped)
    said = []
    for name in ('zero.log', 'skipped.log'):
        p = run('parse', 'stress-ng', name)
        doc = strict(p.stdout)
        equal((p.returncode, doc['status'], doc['metrics']), (3, 'no-result', []), name)
        said.append(doc['message'])
    check('work' in said[0] and 'skipped' in said[1] and said[0] != said[1], f'two sentences: {said}')
    p = run('import', '--runner', 'stress-ng', '--name', 'nowork', 'base=ok.log', 'patched=zero.log', home='.')
    equal(p.returncode, 0, f'import of logs without a figure: {p.stderr}')
    status, doc, text = report('nowork', '--gate')
    equal(status, 5, 'no work: status')
    for r in doc['rows']:
        equal((r['sets'][1]['values'], r['comparisons'][0]['gain_pct'], r['comparisons'][0]['gate']), ([], None, False),
              f'no work: {r["metric"]}')
    check('fail 1/1' in text and '100' not in text.replace('1000', ''), 'no work: no percentage')


def part_of_a_class():
    head = ''.join(runner_output('stress-ng-0.15.06-metrics-brief.txt').splitlines(True)[:2]).replace(', 1 vm', '')
    head += ''.join(runner_output('stress-ng-0.15.06-metrics-brief.txt').splitlines(True)[2:4])
    names = ('access', 'af-alg', 'atomic', 'bsearch', 'clock', 'cpu', 'crypt', 'dup', 'epoll', 'fault', 'fork', 'getdent')
    lines = [f'stress-ng: metrc: [1] {n:<12} {1000 + i:12d}      2.00      1.56      0.00 {500 + i:12.2f} {600 + i:12.2f}\n'
             for i, n in enumerate(names)]
    end = 'stress-ng: info:  [1] successful run completed in 24.44s\n'
    write('all.log', head + ''.join(lines) + end)
    write('part.log', head + ''.join(lines[:9]) + end)
    equal(run('import', '--runner', 'stress-ng', '--name', 'part', 'base=all.log', 'patched=part.log', home='.').returncode, 0,
          'import of a part')
    status, doc, text = report('part', command='compare')
    judged = [r for r in doc['rows'] if r['carries_verdict']]
    equal((status, len(judged), sum(r['comparisons'][0]['verdict'] == 'missing' for r in judged)), (5, 12, 3), 'part: rows')
    check('over 9 of 12 rows' in text, 'part: the geometric mean counts')
    check('12 rows' in one_line(text) and '3 missing' in one_line(text), 'part: summary')


def same_time_other_rate():
    text = runner_output('sysbench-1.0.20-cpu.txt')
    for name, rate, events, took in (('slow', '337.00', 3370, '10.0012'), ('fast', '3682.00', 36820, '10.0003')):
        write(name + '.log', text.replace('837.42', rate).replace('1686', str(events)).replace('2.0119', took))
        write(name + '0.log', re.sub(r'(min|avg|max|95th percentile|sum): +[0-9.]+', r'\1:       0.00',
                                     open(name + '.log', encoding='utf-8').read()))
    for name, files in (('rate', ('slow.log', 'fast.log')), ('tiny', ('slow0.log', 'fast0.log'))):
        p = run('import', '--runner', 'sysbench', '--param', 'test=cpu', '--param', 'time=10', '--name', name,
                'base=' + files[0], 'patched=' + files[1], home='.')
        equal(p.returncode, 0, f'import of {name}: {p.stderr}')
    _, doc, text = report('rate', command='compare')
    rows = {r['metric']: r for r in doc['rows']}
    main = [m for m, r in rows.items() if r['carries_verdict']]
    equal(main, ['events_per_second'], 'rate: the main row')
    near(rows['events_per_second']['comparisons'][0]['gain_pct'], 100 * (3682 / 337 - 1), 'rate: gain', 1e-12)
    check('+992.6%' in text and 'HIGHER is better' in one_line(text), 'rate: printed')
    check('total_time' not in rows or rows['total_time']['comparisons'][0]['verdict'] not in
          ('equivalent', 'improved', 'regressed'), 'rate: a time fixed by the plan is never equivalent')
    _, doc, text = report('tiny', command='compare')
    rows = {r['metric']: r['comparisons'][0] for r in doc['rows']}
    for metric in ('latency_p95', 'latency_avg'):
        equal((rows[metric]['verdict'], rows[metric]['gain_pct'], rows[metric]['ratio']), ('below resolution', None, None),
              f'tiny: {metric}')
        check(re.search(r'below resolution.*' + metric, one_line(text)), f'tiny: {metric} in words')
        check(not re.search(re.escape(metric) + r'.*\d%', text), f'tiny: {metric} has no percentage')
    near(rows['events_per_second']['gain_pct'], 100 * (3682 / 337 - 1), 'tiny: throughput is still there', 1e-12)


def aa_is_symmetric():
    """One kernel under two names: both wrong verdicts occur, equally often, and rarely."""
    rng = random.Random(20)
    sets, counts = 200, []
    for boots, iterations in ((3, 5), (5, 10)):
        rows = []
        for n in range(sets):
            for kernel in ('base', 'same'):
                for b in range(boots):
                    boot = rng.gauss(0, 1)
                    rows += [(kernel, f'c{n:03}', b, i, 'time', 's', 'lower', round(100 + boot + rng.gauss(0, 1), 5))
                             for i in range(iterations)]
        name = f'aa{boots}'
        imported(name, rows)
        _, doc, _ = report(name, '--margin', '0', '--correction', 'none', command='compare')
        s = doc['summary'][0]
        counts.append((s['improved'], s['regressed']))
        equal(s['rows'], sets, f'{name}: all sets are judged')
        _, doc, text = report(name, command='compare')
        s = doc['summary'][0]
        check(s['improved'] + s['regressed'] <= 2, f'{name}: {s} with Holm over all')
        check(f'{s["improved"]} improved, {s["regressed"]} regressed' in one_line(text), f'{name}: both counts are printed')
    improved, regressed = (sum(c[i] for c in counts) for i in (0, 1))
    total, wrong = 2 * sets, improved + regressed
    # 5 % and four standard errors; a split as uneven as four standard deviations of a fair coin
    check(wrong <= 0.05 * total + 4 * (0.05 * 0.95 * total) ** .5, f'A/A: {wrong} of {total} are wrong')
    check(wrong >= 4 and abs(improved - regressed) <= 4 * wrong ** .5, f'A/A: {improved} improved, {regressed} regressed')
    print(f'A/A: {improved} improved, {regressed} regressed of {total} without correction')
    wrong = [0, 0]
    for n in range(sets):
        for f in ('p', 'q'):
            values(f, [round(rng.gauss(100, 3), 4) for _ in range(6)])
        c = strict(run('stats', '--json', '--direction', 'higher', '--margin', '0', 'p', 'q').stdout)['comparisons'][0]
        wrong[0] += c['verdict'] == 'improved'
        wrong[1] += c['verdict'] == 'regressed'
    check(sum(wrong) <= 22 and abs(wrong[0] - wrong[1]) <= 4 * max(1, sum(wrong)) ** .5, f'A/A through kab stats: {wrong}')


def large_sets():
    """The shift and its interval of many values are found by narrowing, not by listing: count to see."""
    rng = random.Random(8)
    n = 40000
    for what, draw in (('normal', lambda k: round(rng.gauss(100 + k, 3), 6)), ('rounded', lambda k: float(round(rng.gauss(100 + k, 2)))),
                       ('skewed', lambda k: math.exp(rng.gauss(0, 3)) * (1 + k)), ('two levels', lambda k: rng.choice((1.0, 50.0)) + k)):
        a, b = sorted(draw(0) for _ in range(n)), sorted(draw(0.5) for _ in range(n))
        values('big-a', a)
        values('big-b', b)
        hl = strict(run('stats', '--json', 'big-a', 'big-b').stdout)['comparisons'][0]['hodges_lehmann']
        spread = statistics.NormalDist().inv_cdf(0.975) * math.sqrt(n * n * (2 * n + 1) / 12)
        for name, got, rank in (('shift', hl['shift'], n * n / 2), ('lower end', hl['ci95'][0], n * n / 2 - spread),
                                ('upper end', hl['ci95'][1], n * n / 2 + spread)):
            eps = 1e-9 * max(1, abs(got))
            below = sum(bisect.bisect_left(b, x + got - eps) for x in a)
            upto = sum(bisect.bisect_right(b, x + got + eps) for x in a)
            check(below - 2 <= rank <= upto + 2, f'{what}: {name} {got!r} has ranks {below} to {upto}, not {rank}')


def strict_everywhere():
    """One value, base 0, too few for a percentile, everything failed: null with a reason, never NaN."""
    rows = [('base', 'one', 1, 1, 'time', 's', 'lower', 5), ('patched', 'one', 1, 1, 'time', 's', 'lower', 6)]
    rows += [(k, 'zero', b, 1, 'rate', 'x', 'higher', 0 if k == 'base' else b) for k in ('base', 'patched') for b in (1, 2, 3)]
    rows += [(k, 'dead', b, 1, 'time', 's', 'lower', 'fail') for k in ('base', 'patched') for b in (1, 2)]
    rows += [(k, 'huge', b, 1, 'time', 's', 'lower', f'{1 + b}e{e}') for k, e in (('base', -300), ('patched', 300)) for b in (1, 2, 3)]
    imported('odd', rows)
    for command in ('report', 'compare'):
        status, doc, text = report('odd', command=command)
        equal(status, 5, f'{command} of odd rows')
        check(not re.search(r'\b(nan|inf)\b', text, re.I), f'{command} of odd rows: nan or inf')
        for r in doc['rows']:
            for s in r['sets']:
                check(all(v is not None for v in (s['mean'], s['stddev'], s['sem'])) or s['reason'],
                      f'{command}: {r["case"]}: null without a reason')
            for c in r['comparisons']:
                check(c['gain_pct'] is not None or c['reason'], f'{command}: {r["case"]}: no gain and no reason')
    values('one1', [1])
    values('zero3', [0, 0, 0])
    values('huge3', [1e300, 1.2e308, 1.7e308])
    for args in (('one1',), ('one1', 'zero3'), ('zero3', 'one1'), ('zero3', 'huge3'), ('huge3', 'one1'), ('one1', 'huge3')):
        for more in ((), ('--direction', 'lower'), ('--confidence', '99')):
            doc = strict(run('stats', '--json', *more, *args).stdout)
            check(all(c['reason'] for c in doc['comparisons']), f'{args}: a reason')
            no_lies(run('stats', *more, *args).stdout, f'{args}')


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    for case in (unequal_numbers, one_value, zeros, no_work, part_of_a_class, same_time_other_rate, aa_is_symmetric,
                 large_sets, strict_everywhere):
        case()
finish()
