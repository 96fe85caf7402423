#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Size and times of `kab report --format html`, alone and in Chromium. Not a test.

    tests/bench/html_page.py [--rows N] [--boots N] [--iterations N] [--repeats N] KAB
"""
import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import html_browser  # noqa: E402

# From the click to the laid out page, in ms.
TIMED = """
const t = performance.now();
(%s)();
document.body.offsetHeight;
return performance.now() - t;
"""
LOAD = """
document.body.offsetHeight;
return performance.getEntriesByType("navigation")[0].loadEventEnd;
"""
ACTIONS = {
    "sort by gain": "() => [...document.querySelectorAll('thead button')].find(b => b.textContent === 'gain').click()",
    "sort by name": "() => document.querySelector('thead button').click()",
    "order: worst gain first": "() => { const o = document.getElementById('order'); o.value = 'worst';"
                               "o.dispatchEvent(new Event('change')); }",
    "show one verdict only": "() => [...document.querySelectorAll('input.verdict')].slice(1).forEach(c => c.click())",
    "show the numbers behind a cell": "() => document.querySelector('table.main > tbody td').focus()",
    "open one row": "() => document.querySelector('table.main > tbody th').click()",
    "open all rows": "() => document.getElementById('all').click()",
}


def write_rows(path, args):
    rng = random.Random(1)
    with open(path, "w", encoding="ascii") as f:
        f.write("kernel,case,row,boot,iteration,metric,unit,direction,value\n")
        for row in range(args.rows):
            level = 10 * 1.003 ** row
            for kernel, shift in (("base", 1), ("patched", rng.choice((0.97, 1, 1, 1, 1.03)))):
                for boot in range(args.boots):
                    mean = level * shift * rng.gauss(1, 0.005)
                    f.writelines("%s,case-%04d,size=%d,%d,%d,time,s,lower,%.4f\n" %
                                 (kernel, row, 64 << row % 8, boot + 1, i + 1, mean * rng.gauss(1, 0.01))
                                 for i in range(args.iterations))


def timed(argv, repeats, out):
    """Medians of wall and CPU time, in ms."""
    walls, cpus = [], []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        with open(out, "wb") as f:
            subprocess.run(argv, stdout=f, check=True)
        walls.append((time.perf_counter() - begin) * 1e3)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append((after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3)
    return statistics.median(walls), statistics.median(cpus)


def busy(browser):
    """CPU time of the page's main thread so far, in ms."""
    metrics = browser.cdp("Performance.getMetrics")["metrics"]
    return next(m["value"] for m in metrics if m["name"] == "TaskDuration") * 1e3


def in_browser(url, repeats):
    walls, cpus = {}, {}

    def measured(name, work):
        before = busy(browser)
        walls.setdefault(name, []).append(work())
        cpus.setdefault(name, []).append(busy(browser) - before)

    def load():
        browser.open(url)
        return browser.js(LOAD)

    with html_browser.Browser() as browser:
        browser.cdp("Performance.enable", timeDomain="threadTicks")
        for _ in range(repeats):
            browser.open("about:blank")
            measured("load and lay out", load)
            for name, action in ACTIONS.items():
                measured(name, lambda script=TIMED % action: browser.js(script))
        version = browser.cdp("Browser.getVersion")["product"]
    return version, {n: (statistics.median(walls[n]), statistics.median(cpus[n])) for n in walls}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--boots", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--keep", metavar="FILE", help="the page itself")
    parser.add_argument("kab")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db, csv = os.path.join(folder, "kab.db"), os.path.join(folder, "rows.csv")
        page = args.keep or os.path.join(folder, "page.html")
        write_rows(csv, args)
        kab = [os.path.abspath(args.kab), "--db", db]
        subprocess.run([*kab, "import", "--csv", csv, "--name", "rows"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        times = {"kab report": timed([*kab, "report", "rows"], args.repeats, os.devnull),
                 "kab report --format html": timed([*kab, "report", "rows", "--format", "html"], args.repeats, page)}
        print("### Page of %d rows x 2 kernels x %d boots x %d iterations\n" % (args.rows, args.boots, args.iterations))
        size = os.path.getsize(page) / 1e6
        gz = len(subprocess.run(["gzip", "-c", page], stdout=subprocess.PIPE, check=True).stdout) / 1e6
        print("%.2f MB, compressed by gzip %.2f MB.\n" % (size, gz))
        version, reason = "no browser", html_browser.missing()
        if not reason:
            version, more = in_browser("file://" + os.path.abspath(page), args.repeats)
            times.update(more)
        print("| what | wall, ms | CPU, ms |\n|---|---|---|")
        for name, (wall, cpu) in times.items():
            print("| %s | %.0f | %.0f |" % (name, wall, cpu))
        print("\n%s, %d CPUs, load %s at the end; medians of %d. CPU in the browser is that of the page's main thread." %
              (reason or version, os.cpu_count(), " ".join("%.1f" % x for x in os.getloadavg()), args.repeats))


if __name__ == "__main__":
    main()
