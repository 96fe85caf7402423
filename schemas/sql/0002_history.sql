-- SPDX-License-Identifier: GPL-3.0-or-later
-- What a series was worth night by night, what looked like a change in it, what a fresh comparison
-- said of that, and what people said. Rows are only added: the state of a nomination follows from its
-- trials and notes. Points outlive the runs that they come from.

-- One night of one series: the ratio of the night's kernel to a reference kernel that was measured in
-- the same blocks of the same night.
CREATE TABLE history_point (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	tree TEXT NOT NULL,
	date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	wall_ns INTEGER NOT NULL,
	run_id INTEGER REFERENCES run (id) ON DELETE SET NULL,
	run_name TEXT NOT NULL,
	host TEXT NOT NULL,
	condition TEXT NOT NULL,
	case_name TEXT NOT NULL,
	row_key TEXT NOT NULL,
	runner TEXT NOT NULL,
	metric TEXT NOT NULL,
	unit TEXT NOT NULL,
	direction TEXT NOT NULL CHECK (direction IN ('none', 'lower', 'higher')),
	-- 1: the metric carries verdicts
	judged INTEGER NOT NULL CHECK (judged IN (0, 1)),
	margin_pct REAL NOT NULL,
	-- Hash over runner, its version and resolved parameters; '' when nothing ran.
	series TEXT NOT NULL,
	machine_hash TEXT NOT NULL,
	-- CPU model and number of CPUs; '' when unknown.
	hardware TEXT NOT NULL,
	label TEXT NOT NULL,
	spec TEXT NOT NULL,
	kernel TEXT NOT NULL,
	release TEXT NOT NULL,
	commit_id TEXT NOT NULL,
	reference TEXT NOT NULL,
	reference_kernel TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('ok', 'partial', 'failed', 'absent')),
	reason TEXT,
	boots INTEGER NOT NULL,
	reference_boots INTEGER NOT NULL,
	done INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	planned INTEGER NOT NULL,
	-- test/reference, standard error and degrees of freedom of its logarithm
	ratio REAL,
	log_se REAL,
	df REAL,
	value REAL,
	reference_value REAL,
	UNIQUE (tree, date, host, condition, case_name, row_key, runner, metric, label)
) STRICT;
CREATE INDEX history_point_series
	ON history_point (tree, host, case_name, metric, row_key, condition, date);

-- Something that looks like a change: only a question.
CREATE TABLE history_nomination (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	tree TEXT NOT NULL,
	-- The night in which it was nominated, and the first night of the new level.
	date TEXT NOT NULL,
	since TEXT NOT NULL,
	wall_ns INTEGER NOT NULL,
	host TEXT NOT NULL,
	condition TEXT NOT NULL,
	case_name TEXT NOT NULL,
	row_key TEXT NOT NULL,
	runner TEXT NOT NULL,
	metric TEXT NOT NULL,
	unit TEXT NOT NULL,
	direction TEXT NOT NULL CHECK (direction IN ('lower', 'higher')),
	-- 'divisive', 'fast', 'ab' (the comparison of that night itself)
	origin TEXT NOT NULL CHECK (origin IN ('divisive', 'fast', 'ab')),
	gain_pct REAL,
	p REAL,
	phi REAL,
	nights INTEGER NOT NULL,
	before_label TEXT NOT NULL,
	before_spec TEXT NOT NULL,
	before_release TEXT NOT NULL,
	before_commit TEXT NOT NULL,
	after_label TEXT NOT NULL,
	after_spec TEXT NOT NULL,
	after_release TEXT NOT NULL,
	after_commit TEXT NOT NULL
) STRICT;
CREATE INDEX history_nomination_series
	ON history_nomination (tree, host, case_name, metric, row_key, condition);

-- A fresh interleaved comparison of the two kernels of a nomination.
CREATE TABLE history_trial (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	nomination_id INTEGER NOT NULL REFERENCES history_nomination (id) ON DELETE CASCADE,
	date TEXT NOT NULL,
	wall_ns INTEGER NOT NULL,
	run_id INTEGER REFERENCES run (id) ON DELETE SET NULL,
	run_name TEXT NOT NULL,
	verdict TEXT NOT NULL CHECK (verdict IN ('regressed', 'improved', 'refuted', 'open')),
	reason TEXT NOT NULL,
	gain_pct REAL,
	lo_pct REAL,
	hi_pct REAL,
	p REAL,
	boots INTEGER NOT NULL,
	UNIQUE (nomination_id, run_name)
) STRICT;

-- Words of people (and of kab: 'recovered'), with who, why and when.
CREATE TABLE history_note (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	kind TEXT NOT NULL CHECK (kind IN ('acknowledge', 'annotate', 'reset', 'recovered')),
	nomination_id INTEGER REFERENCES history_nomination (id) ON DELETE CASCADE,
	-- What it is about; '' is every one.
	tree TEXT NOT NULL,
	host TEXT NOT NULL,
	case_name TEXT NOT NULL,
	metric TEXT NOT NULL,
	-- The night from which it holds.
	date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	who TEXT NOT NULL CHECK (who <> ''),
	why TEXT NOT NULL CHECK (why <> ''),
	wall_ns INTEGER NOT NULL,
	CHECK ((kind IN ('acknowledge', 'recovered')) = (nomination_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX history_note_once ON history_note (nomination_id, kind)
	WHERE nomination_id IS NOT NULL;

-- A search for the commit that changed a figure. `setup_json` is all that is needed to go on.
CREATE TABLE bisect (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL UNIQUE CHECK (name <> ''),
	setup_json TEXT NOT NULL CHECK (json_valid(setup_json)),
	created_wall_ns INTEGER NOT NULL,
	state TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'found', 'stuck', 'refused')),
	summary TEXT NOT NULL DEFAULT ''
) STRICT;

-- The commits from good (position 0) to bad, and what the hook built of them.
CREATE TABLE bisect_commit (
	bisect_id INTEGER NOT NULL REFERENCES bisect (id) ON DELETE CASCADE,
	position INTEGER NOT NULL,
	revision TEXT NOT NULL,
	subject TEXT NOT NULL,
	spec TEXT,
	skipped TEXT,
	PRIMARY KEY (bisect_id, position)
) STRICT, WITHOUT ROWID;

-- What was measured: a run of two commits (positions as a JSON array, the base first). 'lost': by the
-- lab; it says nothing of a commit.
CREATE TABLE bisect_run (
	bisect_id INTEGER NOT NULL REFERENCES bisect (id) ON DELETE CASCADE,
	sequence INTEGER NOT NULL,
	purpose TEXT NOT NULL CHECK (purpose IN ('ends', 'step', 'final', 'lost')),
	positions_json TEXT NOT NULL CHECK (json_valid(positions_json)),
	run_id INTEGER REFERENCES run (id) ON DELETE SET NULL,
	run_name TEXT NOT NULL,
	done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1)),
	PRIMARY KEY (bisect_id, sequence)
) STRICT, WITHOUT ROWID;
