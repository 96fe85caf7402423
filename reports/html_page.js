/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting, filtering, opening rows, and the numbers behind a cell. The page is whole without it. */
"use strict";
(function () {
	const byId = id => document.getElementById(id);
	const tables = [...document.querySelectorAll("table.main")];
	const find = byId("find"), order = byId("order"), shown = byId("shown"), all = byId("all");
	const checks = [...document.querySelectorAll("input.verdict")];
	const pop = byId("pop");
	let popCell = null, timer = 0;

	/* ---- rows ---- */

	const bodies = table => [...table.tBodies];
	const mainRow = body => body.rows[0];
	const moreRow = body => body.rows[1];
	const first = body => mainRow(body).cells[0];
	const visible = table => bodies(table).filter(b => !b.hidden);

	/* In a page of many rows what is behind a row is text until it is wanted. */
	function fill(body) {
		const text = moreRow(body).cells[0].querySelector("noscript");

		if (text)
			text.outerHTML = text.textContent;
	}

	function open(body, on) {
		fill(body);
		const details = moreRow(body).querySelector("details");

		details.open = on;
		moreRow(body).classList.toggle("open", on);
		first(body).setAttribute("aria-expanded", on);
	}
	const isOpen = body => moreRow(body).classList.contains("open");

	/* ---- order ---- */

	const collator = new Intl.Collator("en", { numeric: true });

	/* A word in place of a number goes last, whichever the direction. */
	function key(body, column, numeric) {
		const cell = mainRow(body).cells[column];

		if (cell.dataset.v !== undefined)
			return Number(cell.dataset.v);
		return numeric ? null : cell.textContent;
	}

	function compare(a, b, sign) {
		if (a === null || b === null)
			return (a === null) - (b === null);
		return sign * (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));
	}

	function arrange(table, column, sign) {
		const th = column === null ? null : table.tHead.querySelector('[data-c="' + column + '"]');
		const numeric = th && th.classList.contains("n");
		const list = bodies(table).map(body => ({
			body, n: Number(body.dataset.n), key: th ? key(body, column, numeric) : null
		}));
		const all = document.createDocumentFragment();

		list.sort((a, b) => (th ? compare(a.key, b.key, sign) : 0) || a.n - b.n);
		for (const item of list)
			all.append(item.body);
		table.append(all);
		for (const other of table.tHead.querySelectorAll("[aria-sort]"))
			other.setAttribute("aria-sort", other !== th ? "none" : sign > 0 ? "ascending" : "descending");
	}

	function headClicked(table, th) {
		const now = th.getAttribute("aria-sort");

		if (now === "none")
			arrange(table, Number(th.dataset.c), 1);
		else if (now === "ascending")
			arrange(table, Number(th.dataset.c), -1);
		else
			arrange(table, null, 1);
		order.value = tables.some(t => t.tHead.querySelector("[aria-sort$=scending]")) ? "col" : "suite";
		hide();
	}

	function orderChosen() {
		for (const table of tables) {
			/* Of several gains the first one. */
			const gain = [...table.tHead.querySelectorAll("th")].find(th => th.textContent === "gain");

			if (order.value === "name")
				arrange(table, 0, 1);
			else if ((order.value === "worst" || order.value === "best") && gain)
				arrange(table, Number(gain.dataset.c), order.value === "worst" ? 1 : -1);
			else
				arrange(table, null, 1);
		}
		hide();
	}

	/* ---- filter ---- */

	function filter() {
		const words = find.value.toLowerCase().split(/\s+/).filter(w => w);
		const wanted = new Set(checks.filter(c => c.checked).map(c => c.value));
		const every = wanted.size === checks.length;
		let n = 0, total = 0;

		for (const table of tables) {
			for (const body of bodies(table)) {
				let on = every || body.dataset.o.split(" ").some(o => wanted.has(o));

				if (on && words.length) {
					const text = mainRow(body).textContent.toLowerCase() + " " +
						table.caption.textContent.toLowerCase();

					on = words.every(w => text.includes(w));
				}
				if (body.hidden === on)
					body.hidden = !on;
				n += on;
				total++;
			}
			keepOneStop(table);
		}
		shown.textContent = n + " of " + total + " rows";
		hide();
	}

	/* ---- the numbers behind a cell ---- */

	function heads(table) {
		const list = [];

		for (const th of table.tHead.querySelectorAll("[data-c]"))
			list[Number(th.dataset.c)] = th;
		return list;
	}

	function element(name, text) {
		const e = document.createElement(name);

		e.textContent = text;
		return e;
	}

	/* A column of one of the small tables of the row's details. */
	function numbers(body, kind, index) {
		fill(body);
		const table = moreRow(body).querySelector("table." + kind), list = document.createElement("dl");
		const head = table.tHead.rows[0].cells[index + 1];

		if (!head)
			return null;
		for (const row of table.tBodies[0].rows)
			list.append(element("dt", row.cells[0].textContent),
				    element("dd", row.cells[index + 1].textContent));
		return [element("p", head.textContent + ": " + table.caption.textContent), list];
	}

	function contents(cell) {
		const body = cell.closest("tbody"), table = cell.closest("table.main");
		const th = heads(table)[cell.cellIndex];

		if (cell.parentNode !== mainRow(body))
			return null;
		if (cell.classList.contains("pic")) {
			const title = cell.querySelector("title");

			return title && [element("div", title.textContent)];
		}
		if (th.dataset.k !== undefined)
			return numbers(body, "s", Number(th.dataset.k));
		if (th.dataset.p !== undefined)
			return numbers(body, "p", Number(th.dataset.p));
		return null;
	}

	function hide() {
		clearTimeout(timer);
		if (popCell)
			popCell.removeAttribute("aria-describedby");
		popCell = null;
		pop.hidden = true;
	}

	/* Below the cell, or above it where there is more room; always within the window. */
	function place() {
		const gap = 4, at = popCell.getBoundingClientRect(), size = pop.getBoundingClientRect();
		const width = document.documentElement.clientWidth, height = window.innerHeight;
		let top = at.bottom + gap;

		if (top + size.height > height)
			top = at.top - gap - size.height >= 0 ? at.top - gap - size.height : height - size.height - gap;
		pop.style.left = Math.max(gap, Math.min(at.left, width - size.width - gap)) + "px";
		pop.style.top = Math.max(gap, top) + "px";
	}

	function show(cell) {
		const parts = contents(cell);

		hide();
		if (!parts)
			return;
		pop.replaceChildren(...parts);
		pop.hidden = false;
		popCell = cell;
		cell.setAttribute("aria-describedby", "pop");
		place();
	}

	function soon(work, ms) {
		clearTimeout(timer);
		timer = setTimeout(work, ms);
	}

	function cellOf(target) {
		const cell = target.closest && target.closest("td, th");

		return cell && cell.closest("table.main > tbody > tr:first-child") === cell.parentNode ? cell : null;
	}

	document.addEventListener("mouseover", event => {
		const cell = cellOf(event.target);

		if (pop.contains(event.target) || (cell && cell === popCell))
			clearTimeout(timer);
		else if (cell && !cell.classList.contains("pic"))
			soon(() => show(cell), 120);
		else if (popCell && popCell !== document.activeElement)
			soon(hide, 200);
	});

	/* ---- keyboard: one stop per table, arrows inside ---- */

	const stop = new Map();

	function setStop(table, cell) {
		const old = stop.get(table);

		if (old)
			old.tabIndex = -1;
		if (cell)
			cell.tabIndex = 0;
		stop.set(table, cell);
	}

	function keepOneStop(table) {
		const old = stop.get(table), rows = visible(table);

		if (!old || old.closest("tbody").hidden)
			setStop(table, rows.length ? first(rows[0]) : null);
	}

	function go(table, cell) {
		setStop(table, cell);
		cell.focus();
	}

	function move(cell, event) {
		const table = cell.closest("table.main"), body = cell.closest("tbody"), rows = visible(table);
		const at = rows.indexOf(body), cells = mainRow(body).cells, column = cell.cellIndex;
		const inMore = cell.parentNode !== mainRow(body);
		let to = null;
		const row = i => {
			const b = rows[Math.max(0, Math.min(rows.length - 1, i))];

			return mainRow(b).cells[inMore ? 0 : column];
		};

		switch (event.key) {
		case "ArrowRight":
			to = inMore ? null : cells[column + 1];
			break;
		case "ArrowLeft":
			to = inMore ? null : cells[column - 1];
			break;
		case "ArrowDown":
			to = !inMore && isOpen(body) ? moreRow(body).cells[0] : rows[at + 1] && row(at + 1);
			break;
		case "ArrowUp":
			if (inMore)
				to = first(body);
			else if (rows[at - 1])
				to = isOpen(rows[at - 1]) ? moreRow(rows[at - 1]).cells[0] : row(at - 1);
			break;
		case "PageDown":
			to = row(at + 10);
			break;
		case "PageUp":
			to = row(at - 10);
			break;
		case "Home":
			to = event.ctrlKey ? first(rows[0]) : cells[0];
			break;
		case "End":
			to = event.ctrlKey ? first(rows[rows.length - 1]) : cells[cells.length - 1];
			break;
		case "Enter":
		case " ":
			open(body, !isOpen(body));
			hide();
			if (inMore)
				go(table, first(body));
			event.preventDefault();
			return;
		default:
			return;
		}
		event.preventDefault();
		if (to)
			go(table, to);
	}

	document.addEventListener("keydown", event => {
		if (event.key === "Escape" && popCell) {
			hide();
			event.preventDefault();
			return;
		}
		const cell = event.target.closest("td, th");

		if (cell && cell === event.target && cell.closest("table.main > tbody") && !event.altKey && !event.metaKey)
			move(cell, event);
	});
	document.addEventListener("focusin", event => {
		const cell = cellOf(event.target);

		if (cell && cell === event.target)
			show(cell);
		else if (!pop.contains(event.target))
			hide();
	});
	document.addEventListener("click", event => {
		const cell = cellOf(event.target);

		if (!cell) {
			if (!pop.contains(event.target))
				hide();
			return;
		}
		setStop(cell.closest("table.main"), cell);
		cell.focus();
		if (cell.classList.contains("tog"))
			open(cell.closest("tbody"), !isOpen(cell.closest("tbody")));
	});
	/* Tables scroll, too. */
	document.addEventListener("scroll", event => {
		if (!popCell || event.target === pop)
			return;
		if (popCell === document.activeElement)
			place();
		else
			hide();
	}, { passive: true, capture: true });

	/* ---- set up ---- */

	function prepare(table) {
		table.setAttribute("role", "grid");
		for (const th of table.tHead.querySelectorAll("[data-c]")) {
			const button = element("button", th.textContent);

			button.type = "button";
			button.addEventListener("click", () => headClicked(table, th));
			th.replaceChildren(button);
			th.setAttribute("aria-sort", "none");
		}
		let n = 0;

		for (const body of table.tBodies) {
			body.dataset.n = n++;
			for (const cell of mainRow(body).cells)
				cell.tabIndex = -1;
			moreRow(body).cells[0].tabIndex = -1;
			first(body).classList.add("tog");
			first(body).setAttribute("aria-expanded", "false");
		}
		table.parentNode.removeAttribute("tabindex");
		keepOneStop(table);
	}

	/* A head that stays in sight needs a box that does not scroll. */
	function fit() {
		const boxes = tables.map(t => t.parentNode);
		const fits = boxes.map((box, i) => tables[i].offsetWidth <= box.clientWidth);

		boxes.forEach((box, i) => box.classList.toggle("fits", fits[i]));
	}

	document.documentElement.classList.add("js");
	tables.forEach(prepare);
	byId("tools").hidden = !tables.length;
	find.addEventListener("input", () => soon(filter, 60));
	order.addEventListener("change", orderChosen);
	checks.forEach(c => c.addEventListener("change", filter));
	all.addEventListener("click", () => {
		const on = all.dataset.on !== "1";

		for (const table of tables)
			for (const body of visible(table))
				open(body, on);
		all.dataset.on = on ? "1" : "0";
		all.textContent = on ? "Close all rows" : "Open all rows";
	});
	window.addEventListener("resize", fit);
	fit();
	filter();
}());
