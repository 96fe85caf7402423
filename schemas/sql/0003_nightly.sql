-- SPDX-License-Identifier: GPL-3.0-or-later
-- What nightly jobs remember between two nights. A tree is the name of a nightly file; the date of a
-- night is that of its window's start. Times are nanoseconds since 1970 (UTC, controller's clock).

CREATE TABLE nightly_night (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	tree TEXT NOT NULL CHECK (tree <> ''),
	date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	-- missed: kab was not started in its window; skipped: nothing was new; failed: nothing could
	-- be measured.
	state TEXT NOT NULL CHECK (state IN ('running', 'done', 'missed', 'skipped', 'failed')),
	begin_wall_ns INTEGER NOT NULL,
	end_wall_ns INTEGER NOT NULL,
	started_wall_ns INTEGER NOT NULL,
	finished_wall_ns INTEGER,
	purpose TEXT NOT NULL DEFAULT '',
	-- Labels and specifications of the kernels; '' where there is none.
	test_label TEXT NOT NULL DEFAULT '',
	test_spec TEXT NOT NULL DEFAULT '',
	baseline_label TEXT NOT NULL DEFAULT '',
	baseline_spec TEXT NOT NULL DEFAULT '',
	baseline_why TEXT NOT NULL DEFAULT '',
	reference_label TEXT NOT NULL DEFAULT '',
	reference_spec TEXT NOT NULL DEFAULT '',
	summary TEXT NOT NULL DEFAULT '',
	exit_status INTEGER,
	UNIQUE (tree, date)
) STRICT;

-- The runs of a night. `note` of a confirmation: the ids of what it confirms.
CREATE TABLE nightly_run (
	night_id INTEGER NOT NULL REFERENCES nightly_night (id) ON DELETE CASCADE,
	run_id INTEGER NOT NULL UNIQUE REFERENCES run (id) ON DELETE CASCADE,
	host TEXT NOT NULL,
	purpose TEXT NOT NULL CHECK (purpose IN ('night', 'aa', 'more', 'confirm')),
	note TEXT NOT NULL DEFAULT '',
	judged INTEGER NOT NULL DEFAULT 0 CHECK (judged IN (0, 1)),
	PRIMARY KEY (night_id, run_id)
) STRICT, WITHOUT ROWID;

-- What was said of a night: what was cut from the plan, hosts that failed, kernels that do not boot.
CREATE TABLE nightly_remark (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	night_id INTEGER NOT NULL REFERENCES nightly_night (id) ON DELETE CASCADE,
	kind TEXT NOT NULL,
	host TEXT NOT NULL DEFAULT '',
	text TEXT NOT NULL,
	UNIQUE (night_id, kind, host, text)
) STRICT;

-- Kernels that the sources have shown.
CREATE TABLE nightly_kernel (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	tree TEXT NOT NULL,
	identity TEXT NOT NULL,
	source TEXT NOT NULL,
	label TEXT NOT NULL,
	spec TEXT NOT NULL,
	commit_id TEXT NOT NULL DEFAULT '',
	describe TEXT NOT NULL DEFAULT '',
	is_release INTEGER NOT NULL CHECK (is_release IN (0, 1)),
	seen_wall_ns INTEGER NOT NULL,
	-- Date of the night that tried it, and of the first one that has results of it; NULL: none.
	tried TEXT,
	measured TEXT,
	UNIQUE (tree, identity),
	UNIQUE (tree, label)
) STRICT;

-- The baseline in force is the newest entry: it moves, it is never changed.
CREATE TABLE nightly_baseline (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	tree TEXT NOT NULL,
	label TEXT NOT NULL,
	spec TEXT NOT NULL,
	date TEXT NOT NULL,
	why TEXT NOT NULL,
	UNIQUE (tree, date)
) STRICT;

-- Nights in which a host failed; a good night ends the series.
CREATE TABLE nightly_strike (
	host TEXT NOT NULL,
	tree TEXT NOT NULL,
	date TEXT NOT NULL,
	failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
	reason TEXT NOT NULL,
	PRIMARY KEY (host, tree, date)
) STRICT, WITHOUT ROWID;

CREATE TABLE nightly_quarantine (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	host TEXT NOT NULL,
	tree TEXT NOT NULL,
	date TEXT NOT NULL,
	since_wall_ns INTEGER NOT NULL,
	reason TEXT NOT NULL,
	released_wall_ns INTEGER,
	released_by TEXT
) STRICT;
CREATE UNIQUE INDEX nightly_quarantine_open ON nightly_quarantine (host)
	WHERE released_wall_ns IS NULL;

-- At most one mail for a tree and a night. What could not be sent waits here.
CREATE TABLE nightly_mail (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	tree TEXT NOT NULL,
	date TEXT NOT NULL,
	kind TEXT NOT NULL,
	message_id TEXT NOT NULL,
	subject TEXT NOT NULL,
	message TEXT NOT NULL,
	sent_wall_ns INTEGER,
	UNIQUE (tree, date)
) STRICT;
CREATE INDEX nightly_mail_kind ON nightly_mail (tree, kind, id);
