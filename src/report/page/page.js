// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the page from its data, and makes the kernel table sortable and searchable.
// Text of the user's file reaches the document through textContent and Chart.js (canvas) only.
(function () {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const minus = '\u2212';
  const charts = [];

  // Words and numbers.
  function signed(value) {
    const size = Math.abs(value) < 0.005 ? 0 : value;
    return (size < 0 ? minus : '+') + Math.abs(size).toFixed(2) + '\u00a0%';
  }
  function axisNumber(value) {
    const text = String(Math.abs(Number(value.toPrecision(6))));
    return value < 0 ? minus + text : text;
  }
  function significant(value, unit) {
    const prefixes = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, '\u00b5']];
    const size = Math.abs(value);
    const [factor, prefix] = prefixes.find(([least]) => size >= least) || [1e-6, '\u00b5'];
    const text = size === 0 ? '0' : Number((size / factor).toPrecision(3)).toString();
    return (value < 0 ? minus : '') + text + '\u00a0' + (size === 0 ? '' : prefix) + unit;
  }
  function shortened(text, length) {
    return text.length <= length ? text : text.slice(0, length - 1) + '\u2026';
  }

  // Colours come from the style sheet, so that charts follow the theme and the printer.
  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  }
  const groupColours = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8a8f98'];
  function mixed(from, to, share) {
    const part = (hex, at) => parseInt(hex.slice(at, at + 2), 16);
    const channel = (at) => Math.round(part(from, at) * (1 - share) + part(to, at) * share);
    return 'rgb(' + [1, 3, 5].map(channel).join(',') + ')';
  }

  function baseOptions() {
    return {
      animation: false, responsive: true, maintainAspectRatio: false,
      font: {family: 'system-ui, sans-serif', size: 12},
      plugins: {
        legend: {labels: {color: colour('text'), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 14}},
        tooltip: {backgroundColor: '#1a2027', titleColor: '#fff', bodyColor: '#fff', padding: 10}
      }
    };
  }
  function axis(title, more) {
    return Object.assign({
      title: {display: title !== '', text: title, color: colour('muted')},
      ticks: {color: colour('muted'), callback: axisNumber, includeBounds: false},
      grid: {color: colour('grid'), borderColor: colour('line')}
    }, more);
  }

  // The frontier.
  const shapes = {
    baseline: {pointStyle: 'rect', hollow: true, size: 7, colour: 'text'},
    static: {pointStyle: 'triangle', size: 8, colour: 'static'},
    local: {pointStyle: 'rectRot', size: 7, colour: 'local'},
    global: {pointStyle: 'circle', hollow: true, size: 10, colour: 'global'},
    plan: {pointStyle: 'circle', size: 6, colour: 'plan'},
    bound: {pointStyle: 'line', hollow: true, size: 16, colour: 'text'}
  };
  function markDataset(mark) {
    const shape = shapes[mark.key];
    return {
      label: mark.name.replace(/ \(core.*/, '') + ' ' + signed(mark.at[1]),
      data: [{x: mark.at[0], y: mark.at[1], title: mark.name, time: mark.time, energy: mark.energy}],
      pointStyle: shape.pointStyle, pointRadius: shape.size, pointHoverRadius: shape.size + 2,
      borderWidth: shape.hollow ? 2.5 : 1, borderColor: colour(shape.colour),
      pointBackgroundColor: shape.hollow ? 'transparent' : colour(shape.colour),
      backgroundColor: shape.hollow ? 'transparent' : colour(shape.colour)
    };
  }
  function frontierDatasets() {
    const sets = data.marks.map(markDataset).reverse();
    if (data.frontier.length > 0) {
      sets.push({
        label: 'frontier', showLine: true, tension: 0, data: data.frontier.map(([x, y]) =>
          ({x: x, y: y, title: 'frontier'})),
        pointStyle: 'line', pointRadius: data.frontier.length > 60 ? 0 : 1.5, pointHitRadius: 5,
        borderWidth: 2, borderColor: colour('plan'), backgroundColor: colour('plan')
      });
    }
    if (data.static_pairs.length > 1) {
      sets.push({
        label: 'other fixed settings', pointStyle: 'circle', pointRadius: 3, pointHoverRadius: 5,
        data: data.static_pairs.map(([x, y, name]) => ({x: x, y: y, title: name})),
        borderWidth: 0, borderColor: colour('faint'), backgroundColor: colour('faint')
      });
    }
    return sets;
  }
  // The frontier runs on to slowdowns nobody wants: near the plan it is cut on the right.
  function nearRange() {
    const xs = data.marks.map((mark) => mark.at[0]);
    const right = Math.max(...xs, data.budget_pct || 0);
    const left = Math.min(...xs);
    const span = Math.max(right - left, 2);
    const goesOn = data.frontier.some(([x]) => x > right + 0.1 * span);
    const range = {left: left - 0.25 * span, right: right + (goesOn ? Math.max(6, span) : 0.5 * span)};
    const seen = data.frontier.filter(([x]) => x >= range.left && x <= range.right);
    const ys = data.marks.map((mark) => mark.at[1]).concat(seen.map(([, y]) => y));
    const high = Math.max(...ys);
    const low = Math.min(...ys);
    const pad = Math.max(0.08 * (high - low), 0.5);
    return Object.assign(range, {low: low - pad, high: high + pad});
  }
  function setRange(chart, name) {
    const range = name === 'near' ? nearRange() : {};
    Object.assign(chart.options.scales.x, {min: range.left, max: range.right});
    Object.assign(chart.options.scales.y, {min: range.low, max: range.high});
  }
  function frontierOptions() {
    const options = baseOptions();
    options.scales = {
      x: axis('time change (%)', {type: 'linear'}), y: axis('energy change (%)', {type: 'linear'})
    };
    options.plugins.legend.position = 'bottom';
    options.plugins.legend.reverse = true;
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? shortened(items[0].raw.title, 60) : '',
      label: (item) => {
        const raw = item.raw;
        return ['energy ' + signed(raw.y) + (raw.energy ? ' (' + raw.energy + ')' : ''),
          'time ' + signed(raw.x) + (raw.time ? ' (' + raw.time + ')' : '')];
      }
    };
    return options;
  }
  function checkedRange() {
    return document.querySelector('input[name=range]:checked').value;
  }
  function drawFrontier() {
    const chart = new Chart(document.getElementById('frontier-chart'), {
      type: 'scatter', data: {datasets: frontierDatasets()}, options: frontierOptions()
    });
    setRange(chart, checkedRange());
    chart.update();
    return chart;
  }

  // Joules: a bar is the baseline, split into what the plan uses and what it saves.
  function drawJoules(id, rows) {
    const part = (label, name, value) => ({
      label: label, data: rows.map(value), backgroundColor: colour(name), borderWidth: 0,
      barPercentage: 0.85, categoryPercentage: 0.85
    });
    const sets = [
      part('used by the plan', 'plan', (row) => Math.min(row.planned_j, row.baseline_j)),
      part('saved', 'saved', (row) => Math.max(0, row.baseline_j - row.planned_j))
    ];
    if (rows.some((row) => row.planned_j > row.baseline_j * 1.00005))
      sets.push(part('more than the baseline', 'extra',
        (row) => Math.max(0, row.planned_j - row.baseline_j)));
    const options = baseOptions();
    options.indexAxis = 'y';
    options.interaction = {mode: 'index', axis: 'y', intersect: false};
    options.scales = {
      x: axis('energy (J)', {stacked: true}),
      y: {stacked: true, grid: {display: false, borderColor: colour('line')}, ticks: {
        color: colour('text'), autoSkip: false,
        callback: (value, index) => shortened(rows[index].name, 24)}}
    };
    options.plugins.legend.position = 'bottom';
    options.plugins.legend.labels.pointStyle = 'rect';
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? shortened(rows[items[0].dataIndex].name, 60) : '',
      label: (item) => {
        const row = rows[item.dataIndex];
        if (item.datasetIndex === 0) return 'baseline ' + significant(row.baseline_j, 'J');
        if (item.datasetIndex > 1) return null;
        return 'plan ' + significant(row.planned_j, 'J') + ' (' +
          signed(100 * (row.planned_j / row.baseline_j - 1)) + ')';
      }
    };
    return new Chart(document.getElementById(id + '-chart'), {
      type: 'bar', data: {labels: rows.map((row) => row.name), datasets: sets}, options: options
    });
  }

  // The time axis: one row of floating bars per lane.
  function laneColours(lane) {
    if (lane.name === 'group')
      return lane.labels.map((label, at) => groupColours[at % groupColours.length]);
    if (lane.name === 'kernel')
      return lane.labels.map((label, at) =>
        groupColours[data.kernel_groups[at] % groupColours.length] + (at % 2 ? '70' : 'c8'));
    const ramp = lane.name === 'core clock' ? 'core' : 'memory';
    const locked = lane.labels.filter((label) => label !== 'auto').length;
    const first = lane.labels.length - locked;
    return lane.labels.map((label, at) => at < first ? colour('auto') :
      mixed(colour(ramp + '-low'), colour(ramp + '-high'),
        locked > 1 ? (at - first) / (locked - 1) : 1));
  }
  function laneDataset(lane) {
    const colours = laneColours(lane);
    let start = 0;
    const bars = lane.ends_s.map((end, at) => {
      const bar = {x: [start, end], y: lane.name, label: lane.labels[lane.values[at]]};
      start = end;
      return bar;
    });
    return {
      label: lane.name, data: bars, grouped: false, borderWidth: 0, borderSkipped: false,
      barPercentage: 1, categoryPercentage: 0.72, minBarLength: 0,
      backgroundColor: lane.values.map((value) => colours[value])
    };
  }
  function drawLegends() {
    const box = document.getElementById('lane-legend');
    box.textContent = '';
    data.lanes.filter((lane) => lane.name !== 'kernel').forEach((lane) => {
      const colours = laneColours(lane);
      const list = box.appendChild(document.createElement('ul'));
      list.appendChild(document.createElement('li')).textContent = lane.name;
      lane.labels.slice(0, 24).forEach((label, at) => {
        const item = list.appendChild(document.createElement('li'));
        const swatch = item.appendChild(document.createElement('span'));
        swatch.className = 'swatch';
        swatch.style.background = colours[at];
        item.appendChild(document.createElement('bdi')).textContent = label || '(no group)';
      });
    });
  }
  function setWindow(chart) {
    const zoom = Number(document.getElementById('zoom').value);
    const pan = document.getElementById('pan');
    pan.disabled = zoom === 1;
    const length = data.time_s / zoom;
    const start = zoom === 1 ? 0 : (data.time_s - length) * Number(pan.value) / 1000;
    Object.assign(chart.options.scales.x, {min: start, max: start + length});
    document.getElementById('window').textContent =
      significant(start, 's') + ' to ' + significant(start + length, 's');
  }
  function drawTime() {
    const options = baseOptions();
    options.indexAxis = 'y';
    options.interaction = {mode: 'nearest', intersect: true};
    options.scales = {
      x: axis('time in the iteration', {type: 'linear', min: 0, max: data.time_s}),
      y: {grid: {display: false, borderColor: colour('line')}, ticks: {color: colour('text')}}
    };
    options.scales.x.ticks = {
      color: colour('muted'), maxRotation: 0, includeBounds: false,
      callback: (value) => significant(value, 's')
    };
    options.plugins.legend.display = false;
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? shortened(items[0].raw.label || '(no group)', 60) : '',
      label: (item) => {
        const [from, to] = item.raw.x;
        return [item.raw.y + ' for ' + significant(to - from, 's'),
          'from ' + significant(from, 's') + ' to ' + significant(to, 's')];
      }
    };
    const chart = new Chart(document.getElementById('time-chart'), {
      type: 'bar',
      data: {labels: data.lanes.map((lane) => lane.name), datasets: data.lanes.map(laneDataset)},
      options: options
    });
    setWindow(chart);
    chart.update();
    return chart;
  }

  function drawAll() {
    while (charts.length > 0) charts.pop().destroy();
    for (const [id, rows] of [['groups', data.groups], ['kernels', data.kernels]])
      document.getElementById(id + '-box').style.height = 28 * rows.length + 110 + 'px';
    charts.push(drawFrontier(), drawJoules('groups', data.groups),
      drawJoules('kernels', data.kernels), drawTime());
    drawLegends();
  }

  // The kernel table.
  function cellValue(row, column) {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent.toLowerCase() : Number(cell.dataset.v);
  }
  function sortBy(table, header, column) {
    const rows = Array.from(table.tBodies[0].rows);
    const isNumber = rows.length > 0 && typeof cellValue(rows[0], column) === 'number';
    const was = header.getAttribute('aria-sort');
    const first = isNumber && column > 0 ? 'descending' : 'ascending';
    const order = was === null ? first : was === 'ascending' ? 'descending' : 'ascending';
    const sign = order === 'ascending' ? 1 : -1;
    const keyed = rows.map((row) => [cellValue(row, column), row]);
    keyed.sort(([a], [b]) => sign * (isNumber ? a - b : a < b ? -1 : a > b ? 1 : 0));
    table.querySelectorAll('th[aria-sort]').forEach((other) => other.removeAttribute('aria-sort'));
    header.setAttribute('aria-sort', order);
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  }
  function makeSortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = header.textContent;
      header.textContent = '';
      header.appendChild(button);
      button.addEventListener('click', () => sortBy(table, header, column));
    });
  }
  function filterRows(table, text) {
    const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const rows = Array.from(table.tBodies[0].rows);
    const shown = rows.filter((row) => {
      const content = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
      return !row.hidden;
    });
    document.getElementById('matches').textContent =
      words.length === 0 ? '' : shown.length + ' of ' + rows.length;
  }

  function start() {
    const table = document.getElementById('kernels');
    makeSortable(table);
    document.getElementById('search').addEventListener('input', (event) =>
      filterRows(table, event.target.value));
    document.querySelectorAll('input[name=range]').forEach((input) =>
      input.addEventListener('change', () => { setRange(charts[0], input.value); charts[0].update(); }));
    ['zoom', 'pan'].forEach((id) => document.getElementById(id).addEventListener('input', () => {
      setWindow(charts[3]);
      charts[3].update();
    }));
    dark.addEventListener('change', drawAll);
    // On paper: light colours, and canvases at the width of the page.
    window.addEventListener('beforeprint', () => {
      document.documentElement.dataset.print = '';
      drawAll();
    });
    window.addEventListener('afterprint', () => {
      delete document.documentElement.dataset.print;
      drawAll();
    });
    drawAll();
  }
  start();
})();
