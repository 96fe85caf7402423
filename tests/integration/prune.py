# SPDX-License-Identifier: GPL-3.0-or-later
"""kab prune: raw output goes and the figures stay; whole runs go; what is not over stays."""
import os
import sqlite3

import e2e_lib as e2e


class Prune(e2e.Case):
    def setUp(self):
        super().setUp()
        for name in ("old", "new"):
            r = self.aa(self.suite([self.synthetic()], repeat={"iterations": 3}), "--name", name)
            self.assertEqual(r.status, 0, r.err)

    def ask(self, *args, status=0):
        r = self.kab("prune", *args)
        self.assertEqual(r.status, status, r.err)
        return r

    def count(self, table):
        return self.sql("SELECT count(*) FROM " + table)[0][0]

    def test_output_goes_and_the_report_stays(self):
        before = self.kab("report", "old").out
        outputs = self.count("output")
        r = self.ask("--output", "old", "--yes")
        self.assertIn("old (1), ", r.out)
        self.assertEqual(self.count("output"), outputs / 2)
        self.assertEqual(self.kab("report", "old").out, before)
        iteration = self.sql("SELECT min(id) FROM iteration")[0][0]
        r = self.kab("show", "old", "--raw", str(iteration))
        self.assertNotEqual(r.status, 0)
        self.assertEqual(r.out, "")
        self.assertIn("output", r.err)
        self.assertEqual(self.kab("reparse", "old").status, 0)
        self.assertEqual(self.kab("report", "old").out, before)
        self.assertEqual(self.kab("doctor", "--store").status, 0)

    def test_a_run_goes_whole_and_the_other_stays(self):
        before = self.kab("report", "new").out
        # Room to give back: what is in it would fit into free pages else.
        big = sqlite3.connect(self.db)
        big.execute("UPDATE output SET data = zeroblob(2000000) WHERE id = (SELECT min(o.id) FROM output o"
                    " JOIN iteration i ON i.id = o.iteration_id JOIN run r ON r.id = i.run_id WHERE r.name = 'old')")
        big.commit()
        big.close()
        size = os.path.getsize(self.db)
        r = self.ask("--runs", "old", "--yes")
        self.assertNotIn("keeps its size", r.err)
        self.assertLess(os.path.getsize(self.db), size - 1900000)
        self.assertEqual(self.sql("SELECT name FROM run"), [("new",)])
        for table in ("iteration", "boot", "sample", "output"):
            self.assertGreater(self.count(table), 0)
        self.assertEqual(self.count("sample s WHERE NOT EXISTS (SELECT 1 FROM extraction x WHERE x.id ="
                                    " s.extraction_id)"), 0)
        self.assertEqual(self.kab("report", "new").out, before)
        self.assertEqual(self.kab("doctor", "--store").status, 0)

    def test_only_what_was_asked_for(self):
        before = os.path.getsize(self.db)
        self.assertIn("--output", self.ask("old", status=2).err)
        self.assertIn("which runs", self.ask("--runs", status=2).err)
        self.assertIn("90d", self.ask("--runs", "--older-than", "90", status=2).err)
        self.assertIn("--yes", self.ask("--runs", "old", status=2).err)
        self.assertIn("old", self.ask("--runs", "--older-than", "0d", "--keep", "1", "--dry-run").out)
        self.assertEqual(self.ask("--runs", "--older-than", "1d", "--yes").out, "")
        self.assertEqual(self.ask("--runs", "--keep", "2", "--yes").out, "")
        self.assertEqual((self.count("run"), os.path.getsize(self.db)), (2, before))

    def test_what_goes_on_stays(self):
        p = self.start("run", self.suite([self.synthetic(sleep_s=4)], repeat={"iterations": 2}),
                       "--kernel", "k=running", "--name", "going")
        e2e.wait_for("the run", lambda: self.sql("SELECT 1 FROM run WHERE name = 'going' AND state = 'running'"),
                     process=p)
        self.assertIn("kab resume going", self.ask("--runs", "going", "--yes", status=4).err)
        self.assertNotIn("going", self.ask("--runs", "--older-than", "0d", "--dry-run").out)
        self.assertEqual(self.finish(p).status, 0)
        self.assertEqual(self.states(), {"done": 14})


if __name__ == "__main__":
    e2e.main()
