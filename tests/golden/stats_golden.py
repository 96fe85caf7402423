# SPDX-License-Identifier: GPL-3.0-or-later
"""Reference values (exact rational arithmetic, R, scipy, NIST) against what kab stats --json prints."""
import json
import math
import os
import statistics
import tempfile

from checks import check, equal, finish, near, run, strict

try:
    from scipy import stats as scipy_stats
except ImportError:
    scipy_stats = None

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'stats', 'stats.json')
# Digits that reading decimals into doubles leaves of the standard deviation of these sets.
CEILING = {'nist_Mavro': 13.1, 'nist_Michelso': 13.8, 'nist_NumAcc3': 9.4, 'nist_NumAcc4': 8.2}


def write(name, values):
    with open(name, 'w', encoding='utf-8') as f:
        f.writelines((x if isinstance(x, str) else repr(x)) + '\n' for x in values)
    return name


def sd_tolerance(name):
    return 10 ** (0.3 - CEILING[name]) if name in CEILING else 1e-14


def absolute(got, want, what, tolerance):
    check(got is not None and abs(got - want) <= tolerance, f'{what}: got {got!r}, want {want!r}')


def single(name, entry):
    values = entry['values'] or list(entry['digits_string'])
    p = run('stats', '--json', write(name, values))
    equal((p.returncode, p.stderr), (0, ''), f'{name}: status')
    s = strict(p.stdout)['samples'][0]
    exact = entry['exact']
    equal(s['n'], entry['n'], f'{name}: n')
    for key, want, tolerance in (('mean', exact['mean'], 1e-15), ('min', exact['min'], 0), ('max', exact['max'], 0),
                                 ('median', exact['median'], 1e-14), ('stddev', exact['sd'], sd_tolerance(name)),
                                 ('sem', exact['sem'], sd_tolerance(name)),
                                 ('cv_pct', None if exact['min'] < 0 < exact['max'] else exact['cv_pct'], sd_tolerance(name)),
                                 ('mad', exact['mad_scaled_1.4826'], 1e-14)):
        near(s[key], want, f'{name}: {key}', 2.3e-16 if tolerance == 1e-15 else tolerance)
    for p, want in exact['quantile7'].items():
        near(s['percentiles'][p], want, f'{name}: percentile {p}', 1e-14)
    if exact['mean_ci95_t'] is None or not all(isinstance(x, float) for x in exact['mean_ci95_t']):
        equal(s['ci95'], None, f'{name}: ci95')
    else:
        # the t quantile of the reference has some ten digits
        scale = max(abs(x) for x in exact['mean_ci95_t'])
        for got, want in zip(s['ci95'], exact['mean_ci95_t']):
            absolute(got, want, f'{name}: ci95', max(1e-9, sd_tolerance(name)) * scale)
    if 'nist_certified' in entry:
        certified = entry['nist_certified']
        near(s['mean'], float(certified['mean']), f'{name}: certified mean', 1e-14)
        near(s['stddev'], float(certified['sd']), f'{name}: certified sd', sd_tolerance(name))


def log_delta(a, b):
    """Delta method on the log of the ratio with the degrees of freedom of the relative variances; the
    reference file has those of the plain difference."""
    if not scipy_stats:
        return []
    ma, mb = statistics.fmean(a), statistics.fmean(b)
    va, vb = statistics.variance(a) / len(a) / ma ** 2, statistics.variance(b) / len(b) / mb ** 2
    df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    half = scipy_stats.t.ppf(0.975, df) * math.sqrt(va + vb)
    return [math.exp(math.log(mb / ma) - half), math.exp(math.log(mb / ma) + half)]


def pair(name, entry):
    write('base', entry['base'])
    write('new', entry['new'])
    p = run('stats', '--json', '--direction', 'higher', 'base', 'new')
    equal((p.returncode, p.stderr), (0, ''), f'{name}: status')
    c = strict(p.stdout)['comparisons'][0]
    equal((c['base'], c['test']), ('base', 'new'), f'{name}: names')
    welch, u = entry['welch'], entry['mann_whitney']
    if welch is None or welch.get('t') is None:
        equal((c['welch']['t'], c['welch']['p'], c['ratio_ci95']), (None, None, None), f'{name}: no test')
    else:
        near(c['welch']['t'], welch['t'], f'{name}: t', 1e-10)
        near(c['welch']['df'], welch['df'], f'{name}: df', 1e-10)
        near(c['welch']['p'], welch['p'], f'{name}: p', 1e-10 if welch['p'] > 1e-12 else 1e-8)
    if welch and 'ratio' in welch:
        near(c['ratio'], welch['ratio'], f'{name}: ratio', 1e-14)
        near(c['delta_pct'], welch['delta_pct'], f'{name}: delta', 1e-9)
        near(c['gain_pct'], welch['delta_pct'], f'{name}: gain', 1e-9)
        if max(s['cv_pct'] for s in strict(p.stdout)['samples']) > 20:
            bounds = welch['fieller_ci95'] or []
        else:
            bounds = log_delta(entry['base'], entry['new'])
        for got, bound in zip(c['ratio_ci95'] or [], bounds):
            near(got, bound, f'{name}: interval of the ratio', 1e-9)
    if u:
        near(c['mann_whitney']['u'], u['U_new'], f'{name}: U', 0)
        if c['mann_whitney']['exact']:
            near(c['mann_whitney']['p'], u['exact_p_two_sided_doubled'], f'{name}: exact p', 1e-12)
    near(c['hodges_lehmann']['shift'], entry['hodges_lehmann_new_minus_base'], f'{name}: Hodges-Lehmann', 1e-12)
    if 'R_hodges_lehmann' in entry:
        for got, want in zip(c['hodges_lehmann']['ci95'], entry['R_hodges_lehmann']['ci95']):
            # R brackets a root where it does not use order statistics
            absolute(got, want, f'{name}: interval of Hodges-Lehmann', 1e-4 * max(1, abs(want)))
    check(c['verdict'] in ('improved', 'regressed', 'equivalent', 'inconclusive'), f'{name}: verdict')
    # The interval and the p of the verdict come from one statistic.
    if c['ratio_test']['p'] is not None and c['ratio_ci95']:
        outside = c['ratio_ci95'][0] > 1 or c['ratio_ci95'][1] < 1
        equal(outside, c['ratio_test']['p'] < 0.05, f'{name}: interval and p agree')


with open(GOLDEN, encoding='utf-8') as f:
    golden = json.load(f)
with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    for key, value in golden['single'].items():
        single(key, value)
    for key, value in golden['pairs'].items():
        pair(key, value)
    equal((len(golden['single']), len(golden['pairs'])), (23, 19), 'all of the file')
finish()
