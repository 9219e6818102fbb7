/*
 * A stand-in for Google Charts, for tests without a network.
 *
 * TensorBoard's profile plugin loads its drawing library from the net, and that library may
 * not be stored elsewhere. The browser test answers its URL with this file: the data classes
 * as the plugin uses them, tables as tables, every chart as bars or lines in SVG with its
 * numbers beside. It draws what it is given and changes none of it.
 */
(function () {
	'use strict';

	const present = (value) => value !== null && value !== undefined;

	function compare(a, b) {
		if (!present(a) || !present(b))
			return present(a) - present(b);
		return a < b ? -1 : a > b ? 1 : 0;
	}

	function plain(value) {
		if (!present(value))
			return '';
		if (typeof value === 'number' && !Number.isInteger(value))
			return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
		return typeof value === 'number' ? value.toLocaleString('en-US') : String(value);
	}

	/* ---- data: what tables and views have in common, from their cells ---------------------- */

	class Data {
		getValue(row, column) { return this.cell(row, column).v ?? null; }
		getFormattedValue(row, column) {
			const cell = this.cell(row, column);
			return present(cell.f) ? cell.f : plain(cell.v);
		}
		getProperty(row, column, name) { return (this.cell(row, column).p || {})[name] ?? null; }
		getProperties(row, column) { return this.cell(row, column).p || {}; }
		getColumnId(column) { return this.column(column).id || ''; }
		getColumnLabel(column) { return this.column(column).label || ''; }
		getColumnType(column) { return this.column(column).type || 'string'; }
		getColumnRole(column) {
			return this.column(column).role || (this.column(column).p || {}).role || '';
		}
		getColumnProperty(column, name) { return (this.column(column).p || {})[name] ?? null; }
		getColumnProperties(column) { return this.column(column).p || {}; }
		getColumnIndex(name) {
			if (typeof name === 'number')
				return name < this.getNumberOfColumns() ? name : -1;
			for (let i = 0; i < this.getNumberOfColumns(); i++)
				if (this.getColumnId(i) === name)
					return i;
			for (let i = 0; i < this.getNumberOfColumns(); i++)
				if (this.getColumnLabel(i) === name)
					return i;
			return -1;
		}
		allRows() { return [...Array(this.getNumberOfRows()).keys()]; }
		getDistinctValues(column) {
			return [...new Set(this.allRows().map((row) => this.getValue(row, column)))].sort(compare);
		}
		getColumnRange(column) {
			const values = this.allRows().map((row) => this.getValue(row, column)).filter(present).sort(compare);
			return { min: values[0] ?? null, max: values[values.length - 1] ?? null };
		}
		getSortedRows(by) {
			const keys = [by].flat().map((key) => typeof key === 'number' ? { column: key } : key);
			return this.allRows().sort((a, b) => {
				for (const { column, desc } of keys) {
					const order = compare(this.getValue(a, column), this.getValue(b, column));
					if (order)
						return desc ? -order : order;
				}
				return a - b;
			});
		}
		getFilteredRows(filters) {
			if (typeof filters === 'function')
				return this.allRows().filter((row) => filters(row, this));
			return this.allRows().filter((row) => filters.every((filter) => {
				const value = this.getValue(row, filter.column);
				if (filter.test && !filter.test(value, row, filter.column, this))
					return false;
				if ('value' in filter && filter.value !== undefined && value !== filter.value)
					return false;
				if (present(filter.minValue) && !(value >= filter.minValue))
					return false;
				return !present(filter.maxValue) || value <= filter.maxValue;
			}));
		}
		toDataTable() {
			const columns = [...Array(this.getNumberOfColumns()).keys()];
			return new DataTable({
				cols: columns.map((i) => ({ ...this.column(i) })),
				rows: this.allRows().map((row) => ({ c: columns.map((i) => ({ ...this.cell(row, i) })) })),
				p: { ...this.getTableProperties() },
			});
		}
	}

	class DataTable extends Data {
		constructor(from) {
			super();
			const data = typeof from === 'string' ? JSON.parse(from) : from || {};
			this.cols = (data.cols || []).map((each) => ({ ...each }));
			this.rows = (data.rows || []).map((row) => this.cols.map((_, i) => ({ ...(row.c || [])[i] })));
			this.p = { ...data.p };
		}
		cell(row, column) { return this.rows[row][column]; }
		column(column) { return this.cols[column]; }
		getNumberOfRows() { return this.rows.length; }
		getNumberOfColumns() { return this.cols.length; }
		getTableProperty(name) { return this.p[name] ?? null; }
		getTableProperties() { return this.p; }
		setTableProperty(name, value) { this.p[name] = value; }
		insertColumn(at, type, label, id) {
			this.cols.splice(at, 0, typeof type === 'object' ? { ...type } : { type, label, id });
			this.rows.forEach((row) => row.splice(at, 0, {}));
			return at;
		}
		addColumn(type, label, id) { return this.insertColumn(this.cols.length, type, label, id); }
		removeColumns(at, count) {
			this.cols.splice(at, count);
			this.rows.forEach((row) => row.splice(at, count));
		}
		removeColumn(at) { this.removeColumns(at, 1); }
		setColumnLabel(column, label) { this.cols[column].label = label; }
		setColumnProperty(column, name, value) { (this.cols[column].p ||= {})[name] = value; }
		setColumnProperties(column, all) { this.cols[column].p = all; }
		addRow(values = []) {
			this.rows.push(this.cols.map((_, i) => {
				const value = values[i];
				return present(value) && typeof value === 'object' && !(value instanceof Date) ?
					{ ...value } : { v: value };
			}));
			return this.rows.length - 1;
		}
		addRows(rows) {
			(typeof rows === 'number' ? Array(rows).fill([]) : rows).forEach((row) => this.addRow(row));
			return this.rows.length - 1;
		}
		removeRows(at, count) { this.rows.splice(at, count); }
		removeRow(at) { this.removeRows(at, 1); }
		setCell(row, column, v, f, p) {
			const cell = this.rows[row][column];
			if (v !== undefined) {
				cell.v = v;
				delete cell.f;
			}
			if (f !== undefined)
				cell.f = f;
			if (p !== undefined)
				cell.p = p;
		}
		setValue(row, column, v) { this.setCell(row, column, v); }
		setFormattedValue(row, column, f) { this.rows[row][column].f = f; }
		setProperty(row, column, name, value) { (this.rows[row][column].p ||= {})[name] = value; }
		setProperties(row, column, all) { this.rows[row][column].p = all; }
		sort(by) { this.rows = this.getSortedRows(by).map((row) => this.rows[row]); }
		clone() { return this.toDataTable(); }
		toJSON() { return JSON.stringify({ cols: this.cols, rows: this.rows.map((c) => ({ c })), p: this.p }); }
	}

	class DataView extends Data {
		constructor(table) {
			super();
			this.table = table;
			this.columns = [...Array(table.getNumberOfColumns()).keys()];
			this.chosen = null;
		}
		row(row) { return this.chosen ? this.chosen[row] : row; }
		cell(row, column) {
			const from = this.columns[column];
			if (typeof from === 'number')
				return this.table.cell(this.row(row), from);
			if (from.calc === 'stringify')
				return { v: this.table.getFormattedValue(this.row(row), from.sourceColumn) };
			if (from.calc) {
				const value = from.calc(this.table, this.row(row));
				return present(value) && typeof value === 'object' ? value : { v: value };
			}
			return this.table.cell(this.row(row), from.sourceColumn);
		}
		column(column) {
			const from = this.columns[column];
			if (typeof from === 'number')
				return this.table.column(from);
			return { ...(present(from.sourceColumn) ? this.table.column(from.sourceColumn) : {}), ...from };
		}
		getNumberOfRows() { return this.chosen ? this.chosen.length : this.table.getNumberOfRows(); }
		getNumberOfColumns() { return this.columns.length; }
		getTableProperty(name) { return this.table.getTableProperty(name); }
		getTableProperties() { return this.table.getTableProperties(); }
		getTableRowIndex(row) { return this.row(row); }
		getTableColumnIndex(column) {
			return typeof this.columns[column] === 'number' ? this.columns[column] : -1;
		}
		getViewColumns() { return this.columns; }
		getViewRows() { return this.allRows().map((row) => this.row(row)); }
		setColumns(columns) {
			this.columns = columns.map((each) => typeof each === 'string' ? this.table.getColumnIndex(each) : each);
		}
		hideColumns(hidden) { this.columns = this.columns.filter((each) => !hidden.includes(each)); }
		setRows(first, last) {
			this.chosen = typeof first === 'number' ?
				[...Array(last - first + 1).keys()].map((i) => first + i) : [...first];
		}
		hideRows(hidden) { this.chosen = this.getViewRows().filter((row) => !hidden.includes(row)); }
	}

	function arrayToDataTable(array, headless) {
		const table = new DataTable(), first = array[headless ? 0 : 1] || [];

		first.forEach((value, i) => {
			const head = headless ? '' : array[0][i];
			const type = typeof value === 'number' ? 'number' : 'string';
			table.addColumn(present(head) && typeof head === 'object' ? { type, ...head } : { type, label: head });
		});
		table.addRows(array.slice(headless ? 0 : 1));
		return table;
	}

	const total = (values) => values.reduce((sum, value) => sum + (value || 0), 0);
	const data = {
		sum: total,
		count: (values) => values.length,
		avg: (values) => values.length ? total(values) / values.length : null,
		min: (values) => [...values].sort(compare)[0] ?? null,
		max: (values) => [...values].sort(compare).pop() ?? null,
		month: (date) => date.getMonth() + 1,
		group(table, keys, columns = []) {
			const parts = keys.map((key) => typeof key === 'number' ? { column: key } : key);
			const groups = new Map(), result = new DataTable();

			parts.forEach((key) => result.addColumn(key.type || table.getColumnType(key.column),
				key.label ?? table.getColumnLabel(key.column), key.id ?? table.getColumnId(key.column)));
			columns.forEach((each) => result.addColumn(each.type,
				each.label ?? table.getColumnLabel(each.column), each.id ?? table.getColumnId(each.column)));
			table.allRows().forEach((row) => {
				const key = parts.map(({ column, modifier }) => {
					const value = table.getValue(row, column);
					return modifier ? modifier(value) : value;
				});
				const name = JSON.stringify(key);
				if (!groups.has(name))
					groups.set(name, { key, rows: [] });
				groups.get(name).rows.push(row);
			});
			groups.forEach(({ key, rows }) => result.addRow([...key,
				...columns.map((each) => each.aggregation(rows.map((row) => table.getValue(row, each.column))))]));
			if (parts.length)
				result.sort(parts.map((_, i) => ({ column: i })));
			return result;
		},
	};

	/* ---- formats --------------------------------------------------------------------------- */

	class NumberFormat {
		constructor(options = {}) { this.options = options; }
		formatValue(value) {
			const { pattern, fractionDigits = 2, prefix = '', suffix = '' } = this.options;
			let least = fractionDigits, most = fractionDigits, scale = 1, end = suffix;

			if (pattern) {
				const after = (pattern.split('.')[1] || '').replace(/[^#0]/g, '');
				[least, most] = [(after.match(/0/g) || []).length, after.length];
				if (pattern.endsWith('%'))
					[scale, end] = [100, '%' + suffix];
			}
			return prefix + (value * scale).toLocaleString('en-US',
				{ minimumFractionDigits: least, maximumFractionDigits: most }) + end;
		}
		format(table, column) {
			table.allRows().forEach((row) => {
				const value = table.getValue(row, column);
				if (typeof value === 'number')
					table.setFormattedValue(row, column, this.formatValue(value));
			});
		}
	}

	class PatternFormat {
		constructor(pattern) { this.pattern = pattern; }
		format(table, columns, into = columns[0]) {
			table.allRows().forEach((row) => table.setFormattedValue(row, into,
				this.pattern.replace(/\{(\d+)\}/g, (_, i) => table.getFormattedValue(row, columns[i]))));
		}
	}

	/* ---- drawing --------------------------------------------------------------------------- */

	const events = {
		addListener(source, name, handler) {
			((source.handlers ||= {})[name] ||= []).push(handler);
			return { source, name, handler };
		},
		removeListener({ source, name, handler }) {
			source.handlers[name] = source.handlers[name].filter((each) => each !== handler);
		},
		removeAllListeners(source) { source.handlers = {}; },
		trigger(source, name, event) {
			(((source || {}).handlers || {})[name] || []).forEach((handler) => handler(event));
		},
	};

	function put(parent, tag, attributes, text) {
		const svg = parent.namespaceURI.endsWith('svg') || tag === 'svg';
		const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);

		Object.entries(attributes || {}).forEach(([name, value]) => node.setAttribute(name, value));
		if (present(text))
			node.textContent = text;
		return parent.appendChild(node);
	}

	class Drawn {
		constructor(element) {
			this.element = element;
			this.selection = [];
		}
		getSelection() { return this.selection; }
		setSelection(selection) { this.selection = selection || []; }
		clearChart() { this.element.replaceChildren(); }
		getChartLayoutInterface() { return { getXLocation: () => 0, getYLocation: () => 0 }; }
		draw(table, options = {}) {
			this.clearChart();
			try {
				if (table)
					this.paint(table, options);
			} finally {
				events.trigger(this, 'ready', {});
			}
		}
	}

	class Table extends Drawn {
		paint(table, options) {
			const style = 'border-collapse:collapse;font-size:12px;width:100%';
			const body = put(put(this.element, 'div', { style: 'overflow:auto' }), 'table',
				{ style, class: 'google-visualization-table-table' });
			const head = put(body, 'tr'), cells = 'border:1px solid #ddd;padding:2px 6px;text-align:';
			const columns = [...Array(table.getNumberOfColumns()).keys()];

			columns.forEach((column) => {
				put(head, 'th', { style: cells + 'left' }, table.getColumnLabel(column)).onclick = () =>
					events.trigger(this, 'sort', { column, ascending: this.up = !this.up });
			});
			table.allRows().slice(0, 2000).forEach((row) => {
				const line = put(body, 'tr');
				columns.forEach((column) => {
					const side = table.getColumnType(column) === 'number' ? 'right' : 'left';
					const cell = put(line, 'td', { style: cells + side });
					const text = table.getFormattedValue(row, column);
					if (options.allowHtml)
						cell.innerHTML = text;
					else
						cell.textContent = text;
				});
				line.onclick = () => {
					this.selection = [{ row, column: null }];
					events.trigger(this, 'select', {});
				};
			});
		}
	}

	const COLOURS = ['#3366cc', '#dc3912', '#ff9900', '#109618', '#990099', '#0099c6', '#dd4477', '#66aa00'];

	/* One row of a chart is one column of its picture: stacked bars, or points of areas. */
	class Chart extends Drawn {
		paint(table, options) {
			const series = [...Array(table.getNumberOfColumns()).keys()].slice(1).filter((column) =>
				table.getColumnType(column) === 'number' && !['tooltip', 'annotation', 'interval']
					.includes(table.getColumnRole(column)));
			const colour = (i) => (options.series?.[i]?.color) || [options.colors || []].flat()[i] ||
				COLOURS[i % COLOURS.length];
			const height = parseInt(options.height, 10) || 220;
			const width = parseInt(options.width, 10) || this.element.clientWidth || 500;

			if (options.title)
				put(this.element, 'div', { style: 'font:bold 12px sans-serif' }, options.title);
			const svg = put(this.element, 'svg', { width, height, style: 'background:#fafafa' });
			this.shapes(svg, table, series, colour, width, height, options);
			const legend = put(this.element, 'div', { style: 'font:11px sans-serif' });
			series.slice(0, 20).forEach((column, i) => {
				put(legend, 'span', { style: `color:${colour(i)}` }, '\u25a0 ');
				put(legend, 'span', { style: 'margin-right:12px' }, table.getColumnLabel(column));
			});
		}
		shapes(svg, table, series, colour, width, height, options) {
			const rows = table.allRows(), left = 70, low = height - 18;
			const value = (row, column) => Number(table.getValue(row, column)) || 0;
			const stacked = Boolean(options.isStacked) || series.length === 1;
			const tops = rows.map((row) => stacked ? total(series.map((column) => value(row, column))) :
				Math.max(0, ...series.map((column) => value(row, column))));
			const top = Math.max(1e-12, ...tops), scale = (low - 10) / top;
			const x = (i) => left + (width - left - 10) * i / Math.max(1, rows.length);
			const wide = Math.max(0.5, Math.min(60, x(1) - x(0) - (rows.length < 100 ? 2 : 0)));

			put(svg, 'text', { x: 2, y: 14, 'font-size': 11 }, plain(top));
			put(svg, 'text', { x: 2, y: low, 'font-size': 11 }, '0');
			put(svg, 'line', { x1: left, x2: width, y1: low, y2: low, stroke: '#888' });
			rows.forEach((row, i) => {
				let base = 0;
				series.forEach((column, k) => {
					const high = value(row, column) * scale;
					put(svg, 'rect', { x: x(i), y: low - base - high, width: wide, height: Math.max(0, high),
						fill: colour(k), 'fill-opacity': stacked ? 1 : 0.5 });
					base += stacked ? high : 0;
				});
				if (rows.length <= 24 || i % Math.ceil(rows.length / 12) === 0)
					put(svg, 'text', { x: x(i), y: height - 4, 'font-size': 10 },
						table.getFormattedValue(row, 0).slice(0, 24));
			});
		}
	}

	/* Parts of a whole: a bar each, with its share. */
	class PieChart extends Chart {
		shapes(svg, table, series, colour, width) {
			const rows = table.allRows(), value = (row) => Number(table.getValue(row, series[0])) || 0;
			const sum = total(rows.map(value)) || 1;

			rows.sort((a, b) => value(b) - value(a)).slice(0, 11).forEach((row, i) => {
				const y = 4 + i * 18;
				put(svg, 'rect', { x: 0, y, width: Math.max(1, width * value(row) / sum), height: 15,
					fill: colour(i), 'fill-opacity': 0.5 });
				put(svg, 'text', { x: 4, y: y + 12, 'font-size': 11 },
					`${table.getFormattedValue(row, 0)} ${(value(row) * 100 / sum).toFixed(1)}%`);
			});
		}
	}

	const visualization = { DataTable, DataView, arrayToDataTable, data, NumberFormat, PatternFormat, events,
		Table, PieChart };
	for (const name of ['AreaChart', 'BarChart', 'BubbleChart', 'CandlestickChart', 'ColumnChart', 'ComboChart',
		'Histogram', 'LineChart', 'ScatterChart', 'SteppedAreaChart'])
		visualization[name] = class extends Chart {};

	const load = () => Promise.resolve();
	window.google = { visualization, charts: { load, safeLoad: load,
		setOnLoadCallback: (callback) => setTimeout(callback, 0) } };
})();
