# SPDX-License-Identifier: GPL-3.0-or-later
"""kab stats: the contract of its JSON, numbers computed here, and what it says in words."""
import itertools
import math
import os
import random
import statistics
import tempfile

from checks import check, equal, finish, near, run, strict

KEYS_SAMPLE = {'name', 'n', 'mean', 'stddev', 'sem', 'cv_pct', 'min', 'max', 'median', 'mad', 'percentiles', 'ci95'}
KEYS_COMPARISON = {'base', 'test', 'gain_pct', 'delta_pct', 'ratio', 'ratio_ci95', 'welch', 'ratio_test', 'mann_whitney',
                   'hodges_lehmann', 'verdict', 'reason'}


def quantile(values, p):
    """Type 7, by its definition."""
    x = sorted(values)
    h = (len(x) - 1) * p / 100
    low = math.floor(h)
    high = min(low + 1, len(x) - 1)
    return x[low] + (h - low) * (x[high] - x[low])


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


def against(a, b, got, what):
    """One comparison of the JSON against formulas."""
    ma, mb, va, vb = statistics.fmean(a), statistics.fmean(b), statistics.variance(a), statistics.variance(b)
    sa, sb = va / len(a), vb / len(b)
    near(got['welch']['t'], (mb - ma) / math.sqrt(sa + sb), f'{what}: t', 1e-9)
    near(got['welch']['df'], (sa + sb) ** 2 / (sa ** 2 / (len(a) - 1) + sb ** 2 / (len(b) - 1)), f'{what}: df', 1e-9)
    near(got['ratio'], mb / ma, f'{what}: ratio', 1e-12)
    near(got['delta_pct'], 100 * (mb / ma - 1), f'{what}: delta', 1e-9)
    se = math.sqrt(sa / ma ** 2 + sb / mb ** 2)
    near(got['ratio_test']['t'], math.log(mb / ma) / se, f'{what}: t of the ratio', 1e-9)
    u = sum((y > x) + (y == x) / 2 for x, y in itertools.product(a, b))
    equal(got['mann_whitney']['u'], u, f'{what}: U')
    near(got['hodges_lehmann']['shift'], statistics.median(y - x for x, y in itertools.product(a, b)),
         f'{what}: Hodges-Lehmann', 1e-9)


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    rng = random.Random(5)
    a = [round(rng.gauss(100, 3), 4) for _ in range(12)]
    b = [round(rng.gauss(97, 3), 4) for _ in range(15)]
    write('a', '# a comment\n\n' + ''.join(f'{x}\n' for x in a[:5]) + ''.join(f'  {x}\t# behind\r\n' for x in a[5:]))
    write('b', ' '.join(['name', 'value']).replace('name', '#name') + '\n' + ''.join(f'x {y} z\n' for y in b))
    p = run('stats', '--json', 'a')
    doc = strict(p.stdout)
    equal((p.returncode, doc['comparisons']), (0, []), 'one file')
    p = run('stats', '--json', '--column', '2', 'b')
    s = strict(p.stdout)['samples'][0]
    check(KEYS_SAMPLE <= set(s), 'keys of a sample')
    equal(set(s['percentiles']), {'1', '5', '25', '50', '75', '90', '95', '99'}, 'percentiles')
    for name, want in (('n', 15), ('mean', statistics.fmean(b)), ('stddev', statistics.stdev(b)), ('min', min(b)),
                       ('max', max(b)), ('median', statistics.median(b)), ('sem', statistics.stdev(b) / 15 ** .5),
                       ('cv_pct', 100 * statistics.stdev(b) / statistics.fmean(b))):
        near(s[name], want, name, 1e-12)
    near(s['mad'], 1.4826 * statistics.median(abs(x - statistics.median(b)) for x in b), 'mad', 1e-12)
    for point, value in s['percentiles'].items():
        near(value, quantile(b, int(point)), f'percentile {point}', 1e-12)
    # t(0.975, 14) = 2.144786687916928
    near(s['ci95'][1] - s['mean'], 2.144786687916928 * s['sem'], 'ci95', 1e-9)
    write('b1', ''.join(f'{y}\n' for y in b))
    c = strict(run('stats', '--json', 'a', 'b1').stdout)['comparisons'][0]
    check(KEYS_COMPARISON <= set(c), 'keys of a comparison')
    equal((c['base'], c['test'], c['gain_pct'], c['verdict'], c['reason']), ('a', 'b1', None, None, 'no direction'),
          'without a direction')
    against(a, b, c, 'a and b')
    c = strict(run('stats', '--json', '--direction', 'lower', 'a', 'b1').stdout)['comparisons'][0]
    near(c['gain_pct'], -c['delta_pct'], 'lower is better', 1e-12)
    c = strict(run('stats', '--json', '--direction', 'higher', 'a', 'b1').stdout)['comparisons'][0]
    near(c['gain_pct'], c['delta_pct'], 'higher is better', 1e-12)
    s = strict(run('stats', '--json', '--confidence', '99', 'b1').stdout)['samples'][0]
    # t(0.995, 14) = 2.976842734370834
    near(s['ci'][1] - s['mean'], 2.976842734370834 * s['sem'], 'ci at 99 %', 1e-9)
    near(s['ci95'][1] - s['mean'], 2.144786687916928 * s['sem'], 'ci95 stays', 1e-9)
    equal(strict(run('stats', '--json', '-', stdin='1\n2\n4\n').stdout)['samples'][0]['mean'], 7 / 3, 'standard input')

    # Unequal numbers of values: all of them are used.
    write('u1', '10.0\n10.2\n')
    write('u2', '11.0\n11.3\n10.9\n')
    c = strict(run('stats', '--json', 'u1', 'u2').stdout)['comparisons'][0]
    check(abs(c['welch']['t'] - 6.18) < 0.005 and abs(c['welch']['p'] - 0.0092) < 0.00005, 'unequal n: Welch')
    near(c['mann_whitney']['p'], 0.2, 'unequal n: exact U', 1e-12)
    check('cannot go below p 0.2' in run('stats', 'u1', 'u2').stdout, 'unequal n: the floor of the rank test')

    # One value a side; zeros.
    for name, x in (('z', '0'), ('h', '100'), ('m', '3069448')):
        write(name, x + '\n')
    p = run('stats', '--direction', 'lower', 'h', 'm')
    check('inconclusive (one value)' in p.stdout and 'One value has no spread' in p.stdout, 'one value: said, and the remedy')
    for base, test, gain, word in (('m', 'z', 100, ''), ('z', 'z', None, 'identical'), ('z', 'h', None, 'base is 0')):
        c = strict(run('stats', '--json', '--direction', 'lower', base, test).stdout)['comparisons'][0]
        equal(c['gain_pct'], gain, f'{base} to {test}: gain')
        check(word in c['reason'], f'{base} to {test}: {c["reason"]}')
        check(word in run('stats', '--direction', 'lower', base, test).stdout, f'{base} to {test}: in words')
        equal((c['welch']['t'], c['ratio_ci95']), (None, None), f'{base} to {test}: no test')

    # Boots: every test over boot means, extremes over all values.
    sets = []
    for name, level in (('p', 10), ('q', 10.3)):
        boots = {f'boot-{i}': [round(level * rng.gauss(1, .01) + rng.gauss(0, .02), 4) for _ in range(i % 3 + 2)]
                 for i in range(6)}
        text = [f'{k} {v}' for k, values in boots.items() for v in values]
        rng.shuffle(text)
        write(name, '\n'.join(text) + '\n')
        sets.append(boots)
    doc = strict(run('stats', '--json', '--boots', 'p', 'q').stdout)
    means = [[statistics.fmean(v) for v in s.values()] for s in sets]
    for s, boots, m in zip(doc['samples'], sets, means):
        values = [x for v in boots.values() for x in v]
        equal((s['n'], s['boots'], s['min'], s['max']), (len(values), 6, min(values), max(values)), 'boots: counts')
        near(s['mean'], statistics.fmean(m), 'boots: mean of means', 1e-12)
        near(s['stddev'], statistics.stdev(m), 'boots: stddev of means', 1e-9)
        near(s['median'], statistics.median(values), 'boots: median of values', 1e-12)
    against(means[0], means[1], doc['comparisons'][0], 'boots')

    # In words.
    same = [write(f's{k}', ''.join(f'{rng.gauss(100, 7):.3f}\n' for _ in range(10))) for k in range(3)]
    text = run('stats', *same).stdout
    check('treated as independent' in text, 'plain values: said so')
    flat = ' '.join(text.split())
    check('no difference shown at 95 %; a difference above' in flat and 'in 8 of 10 such experiments' in flat,
          'what would have been seen')
    check(all(len(x) <= 76 and x == x.rstrip() for x in text.split('\n')), 'width and blanks')
    check(text.isascii() and text.count('M') >= 1, 'picture')
    check('Holm' in text, 'several sets')

    # What is wrong is said with file and line.
    write('bad', '1\n# c\nx1\n')
    write('nan', '1\nnan\n')
    write('none', '# nothing\n')
    for args, words in ((('bad',), ('bad:3', 'x1')), (('nan',), ('nan:2',)), (('none',), ("'none'",)),
                        (('nosuch',), ('nosuch',)), (('--column', '7', 'a'), ('column 7',))):
        p = run('stats', *args)
        check(p.returncode == 3 and all(w in p.stderr for w in words) and not p.stdout, f'{args}: {p.stderr}')
    equal(run('stats').returncode, 2, 'no file')
    equal(run('stats', '--boots', '--column', '1', 'a').returncode, 2, 'boots need two columns')
    # Long digits go through the slow path and come out the same.
    numbers = ['0.1', '1e-3', '123456789012345678', '0.30000000000000004', '-2.5', '+7', '.5', '5.', '1e22', '000.250']
    write('odd', '\n'.join(numbers) + '\n')
    s = strict(run('stats', '--json', 'odd').stdout)['samples'][0]
    equal((s['n'], s['min'], s['max']), (10, -2.5, 1e22), 'odd numbers')
    for x in numbers:
        write('single', x + '\n')
        equal(strict(run('stats', '--json', 'single').stdout)['samples'][0]['mean'], float(x), f'reading {x}')
finish()
