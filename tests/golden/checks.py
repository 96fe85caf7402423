# SPDX-License-Identifier: GPL-3.0-or-later
"""What the golden tests share: running the program, counting, strict JSON."""
import json
import os
import subprocess
import sys
import tempfile

KAB = os.path.abspath(sys.argv[1])
TABLES = sys.argv[2]
failed = 0
passed = 0


def check(good, what):
    global failed, passed
    if good:
        passed += 1
    else:
        failed += 1
        print('FAIL:', what)


def equal(got, want, what):
    check(got == want, f'{what}: got {got!r}, want {want!r}')


def near(got, want, what, rel=1e-9):
    good = (got is None and want is None) or (
        got is not None and want is not None and abs(got - want) <= rel * max(1e-300, abs(want)))
    check(good, f'{what}: got {got!r}, want {want!r}')


def run(*args, stdin=None, home=None):
    env = dict(os.environ, LC_ALL='C')
    if home:
        env['KAB_DB'] = os.path.join(home, 'kab.db')
    return subprocess.run([KAB, *args], input=stdin, capture_output=True, text=True, env=env, timeout=60)


def private():
    """Start the program again where /var/tmp, with the lease of this machine, is its own; skip where that cannot be."""
    if os.environ.pop('KAB_TEST_PRIVATE', None):
        return
    words = ['unshare', '--mount'] + ([] if os.getuid() == 0 else ['--map-root-user'])
    if subprocess.run(words + ['true'], capture_output=True, check=False).returncode:
        print('skipped: no right to make a mount namespace here')
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir='/var/tmp') as place:
        script = 'mount --bind "$0" /var/tmp && exec "$@"'
        sys.exit(subprocess.run(words + ['sh', '-c', script, place, sys.executable] + sys.argv,
                                env=dict(os.environ, KAB_TEST_PRIVATE='1'), check=False).returncode)


def strict(text):
    """JSON as the standard has it: no NaN, no Infinity, no double keys."""
    def no_constant(word):
        raise ValueError(word)

    def no_doubles(pairs):
        keys = [k for k, _ in pairs]
        if len(keys) != len(set(keys)):
            raise ValueError('double key')
        return dict(pairs)
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=no_doubles)


def render(style, table, *options):
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        json.dump(table, f)
        f.flush()
        return run('render', style, *options, f.name)


def finish():
    print(f'{passed} of {passed + failed} checks passed')
    sys.exit(1 if failed or not passed else 0)
