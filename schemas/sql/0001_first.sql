-- SPDX-License-Identifier: GPL-3.0-or-later
-- Times are nanoseconds since 1970 (UTC, controller's clock); 0 or NULL: unknown.
-- Nothing but states (and the result of an iteration, once) is updated in place: triggers see to it.

-- One execution of a plan. `wished_name` is what was asked for: 'x-2' was wished as 'x'.
CREATE TABLE run (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL UNIQUE CHECK (name <> ''),
	wished_name TEXT NOT NULL,
	suite_name TEXT NOT NULL,
	suite_json TEXT NOT NULL,
	lab_json TEXT,
	plan_json TEXT NOT NULL CHECK (json_valid(plan_json)),
	command_line TEXT NOT NULL,
	kab_version TEXT NOT NULL,
	state TEXT NOT NULL DEFAULT 'planned'
		CHECK (state IN ('planned', 'running', 'waiting', 'interrupted', 'complete')),
	created_wall_ns INTEGER NOT NULL,
	finished_wall_ns INTEGER
) STRICT;
CREATE INDEX run_wished ON run (wished_name);

-- Identities that outlive runs: a host is the hash of its machine id, a kernel its build id (or
-- release + commit + configuration hash).
CREATE TABLE host (
	id INTEGER PRIMARY KEY,
	machine_hash TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE kernel (
	id INTEGER PRIMARY KEY,
	identity TEXT NOT NULL UNIQUE,
	release TEXT NOT NULL,
	build_id TEXT NOT NULL,
	commit_id TEXT NOT NULL,
	config_hash TEXT NOT NULL
) STRICT;

-- What a run calls them.
CREATE TABLE run_host (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	label TEXT NOT NULL CHECK (label <> ''),
	position INTEGER NOT NULL CHECK (position >= 0),
	UNIQUE (run_id, label),
	UNIQUE (run_id, position)
) STRICT;

CREATE TABLE run_kernel (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	label TEXT NOT NULL CHECK (label <> ''),
	spec TEXT NOT NULL,
	position INTEGER NOT NULL CHECK (position >= 0),
	UNIQUE (run_id, label),
	UNIQUE (run_id, position)
) STRICT;

-- A repeated boot has the place (block, sequence) of the one it replaces.
CREATE TABLE boot (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	run_host_id INTEGER NOT NULL REFERENCES run_host (id) ON DELETE CASCADE,
	run_kernel_id INTEGER NOT NULL REFERENCES run_kernel (id) ON DELETE CASCADE,
	block INTEGER NOT NULL CHECK (block >= -1),
	sequence INTEGER NOT NULL,
	restart INTEGER NOT NULL CHECK (restart IN (0, 1)),
	state TEXT NOT NULL DEFAULT 'planned'
		CHECK (state IN ('planned', 'proven', 'done', 'broken', 'failed')),
	reason TEXT,
	replaces INTEGER UNIQUE REFERENCES boot (id) ON DELETE CASCADE,
	host_id INTEGER REFERENCES host (id),
	kernel_id INTEGER REFERENCES kernel (id),
	os_boot_id TEXT,
	proven_wall_ns INTEGER
) STRICT;
CREATE INDEX boot_run ON boot (run_id, sequence);
CREATE INDEX boot_run_host ON boot (run_host_id);
CREATE INDEX boot_run_kernel ON boot (run_kernel_id);
CREATE INDEX boot_kernel ON boot (kernel_id);

CREATE TABLE environment (
	boot_id INTEGER NOT NULL REFERENCES boot (id) ON DELETE CASCADE,
	position INTEGER NOT NULL,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (boot_id, position),
	UNIQUE (boot_id, key)
) STRICT, WITHOUT ROWID;

-- One invocation of a benchmark. A further attempt (retry_of) has the place of the failed one.
CREATE TABLE iteration (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	boot_id INTEGER NOT NULL REFERENCES boot (id) ON DELETE CASCADE,
	condition TEXT NOT NULL,
	case_name TEXT NOT NULL,
	row_key TEXT NOT NULL,
	runner TEXT NOT NULL,
	params_text TEXT NOT NULL,
	case_order INTEGER NOT NULL,
	iteration INTEGER NOT NULL CHECK (iteration >= 1),
	warmup INTEGER NOT NULL CHECK (warmup IN (0, 1)),
	attempt INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
	retry_of INTEGER UNIQUE REFERENCES iteration (id) ON DELETE CASCADE,
	sequence INTEGER NOT NULL,
	state TEXT NOT NULL DEFAULT 'pending'
		CHECK (state IN ('pending', 'running', 'done', 'failed', 'missing')),
	remote_id TEXT,
	reason TEXT,
	exit_status INTEGER,
	started_wall_ns INTEGER,
	finished_wall_ns INTEGER,
	elapsed_s REAL,
	user_s REAL,
	system_s REAL,
	max_rss_kb REAL,
	argv_json TEXT,
	params_resolved TEXT,
	runner_version TEXT,
	CHECK ((attempt = 1) = (retry_of IS NULL)),
	UNIQUE (run_id, sequence, attempt),
	UNIQUE (boot_id, condition, case_name, row_key, runner, warmup, iteration, attempt)
) STRICT;
CREATE INDEX iteration_duration ON iteration (runner, params_text, state, elapsed_s);

CREATE TRIGGER iteration_final BEFORE UPDATE ON iteration
WHEN OLD.state IN ('done', 'failed', 'missing')
BEGIN
	SELECT RAISE(ABORT, 'a finished iteration is never changed');
END;

-- One reading of the output of an iteration by one version of a parser.
CREATE TABLE extraction (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	iteration_id INTEGER NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
	runner TEXT NOT NULL,
	parser_version TEXT NOT NULL,
	parse_status TEXT NOT NULL
		CHECK (parse_status IN ('ok', 'partial', 'tool-failed', 'no-result', 'truncated')),
	message TEXT,
	created_wall_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX extraction_iteration ON extraction (iteration_id, id);

-- What may be compared over time; key is the hash of the other columns.
CREATE TABLE series (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	runner TEXT NOT NULL,
	runner_version TEXT NOT NULL,
	params TEXT NOT NULL,
	metric TEXT NOT NULL,
	unit TEXT NOT NULL
) STRICT;

CREATE TABLE sample (
	extraction_id INTEGER NOT NULL REFERENCES extraction (id) ON DELETE CASCADE,
	position INTEGER NOT NULL,
	series_id INTEGER NOT NULL REFERENCES series (id),
	direction TEXT NOT NULL CHECK (direction IN ('none', 'lower', 'higher')),
	value REAL NOT NULL,
	PRIMARY KEY (extraction_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX sample_series ON sample (series_id);

CREATE TRIGGER sample_final BEFORE UPDATE ON sample
BEGIN
	SELECT RAISE(ABORT, 'a sample is never changed');
END;

CREATE TRIGGER extraction_final BEFORE UPDATE ON extraction
BEGIN
	SELECT RAISE(ABORT, 'an extraction is never changed');
END;

-- Raw output, one zstd frame a stream; `bytes` is the length of what is in it.
CREATE TABLE output (
	id INTEGER PRIMARY KEY,
	iteration_id INTEGER NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
	name TEXT NOT NULL,
	bytes INTEGER NOT NULL CHECK (bytes >= 0),
	cut INTEGER NOT NULL CHECK (cut IN (0, 1)),
	data BLOB NOT NULL,
	UNIQUE (iteration_id, name)
) STRICT;

-- Imported figures of which only n, mean and standard deviation (ddof 1) are known.
CREATE TABLE summary (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	run_host_id INTEGER NOT NULL REFERENCES run_host (id) ON DELETE CASCADE,
	run_kernel_id INTEGER NOT NULL REFERENCES run_kernel (id) ON DELETE CASCADE,
	condition TEXT NOT NULL,
	case_name TEXT NOT NULL,
	row_key TEXT NOT NULL,
	runner TEXT NOT NULL,
	metric TEXT NOT NULL,
	unit TEXT NOT NULL,
	direction TEXT NOT NULL CHECK (direction IN ('none', 'lower', 'higher')),
	n INTEGER NOT NULL CHECK (n >= 1),
	mean REAL NOT NULL,
	stddev REAL CHECK (stddev >= 0),
	UNIQUE (run_host_id, run_kernel_id, condition, case_name, row_key, runner, metric, unit)
) STRICT;
CREATE INDEX summary_run ON summary (run_id);

-- The noise floor that an A/A run found: how much boot means (or restart means) of one and the same
-- kernel differ on a machine.
CREATE TABLE noise (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	machine_hash TEXT NOT NULL,
	runner TEXT NOT NULL,
	params_text TEXT NOT NULL,
	condition TEXT NOT NULL,
	metric TEXT NOT NULL,
	cv REAL NOT NULL CHECK (cv >= 0),
	units INTEGER NOT NULL CHECK (units >= 2),
	restarts INTEGER NOT NULL CHECK (restarts IN (0, 1))
) STRICT;
CREATE INDEX noise_series ON noise (machine_hash, runner, params_text, condition, metric, id);

CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	boot_id INTEGER REFERENCES boot (id) ON DELETE CASCADE,
	wall_ns INTEGER NOT NULL,
	kind TEXT NOT NULL,
	text TEXT NOT NULL
) STRICT;
CREATE INDEX event_run ON event (run_id, id);

-- What an iteration is worth today. Its state is never changed, but a later reading of its output
-- may refuse what an earlier one took, and may find a figure where the earlier one found none: the
-- latter only when the benchmark itself ended well (exit status 0, or an imported log that was
-- never timed), never after a kill or a timeout.
CREATE VIEW outcome AS
SELECT i.id AS iteration_id, x.id AS extraction_id, x.parse_status AS parse_status,
	CASE
	WHEN i.state = 'done' AND x.parse_status NOT IN ('ok', 'partial') THEN 'failed'
	WHEN i.state = 'failed' AND x.parse_status IN ('ok', 'partial')
		AND f.parse_status NOT IN ('ok', 'partial')
		AND (i.exit_status = 0 OR (i.exit_status = -1 AND i.finished_wall_ns IS NULL))
		THEN 'done'
	ELSE i.state END AS state,
	-- The sentence of the newest reading, but a kill or timeout keeps its own.
	CASE
	WHEN x.id IS NULL OR x.id = f.id THEN i.reason
	WHEN i.state = 'failed' AND (f.parse_status IN ('ok', 'partial')
		OR NOT (i.exit_status = 0 OR (i.exit_status = -1 AND i.finished_wall_ns IS NULL)))
		THEN i.reason
	ELSE x.message END AS reason
FROM iteration i
LEFT JOIN extraction x
	ON x.id = (SELECT max(e.id) FROM extraction e WHERE e.iteration_id = i.id)
LEFT JOIN extraction f
	ON f.id = (SELECT min(e.id) FROM extraction e WHERE e.iteration_id = i.id);
