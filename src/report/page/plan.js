// SPDX-License-Identifier: Apache-2.0
// Charts of a clock plan, and its kernel table, which can be sorted and searched.
(function () {
  'use strict';
  const {axis, baseOptions, colour, data, drawFrontier, groupColours, keepDrawn, mixed, nameAxis,
    shortened, signed, significant, timeRowsOptions} = negawatt;

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
      y: nameAxis({stacked: true, ticks: {
        color: colour('text'), autoSkip: false,
        callback: (value, index) => shortened(rows[index].name, 24)}})
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
    const options = timeRowsOptions(data.time_s,
      (run) => shortened(run.label || '(no group)', 60));
    const chart = new Chart(document.getElementById('time-chart'), {
      type: 'bar',
      data: {labels: data.lanes.map((lane) => lane.name), datasets: data.lanes.map(laneDataset)},
      options: options
    });
    setWindow(chart);
    chart.update();
    return chart;
  }

  let timeChart = null;
  function drawAll() {
    for (const [id, rows] of [['groups', data.groups], ['kernels', data.kernels]])
      document.getElementById(id + '-box').style.height = 28 * rows.length + 110 + 'px';
    drawLegends();
    timeChart = drawTime();
    return [drawFrontier(), drawJoules('groups', data.groups),
      drawJoules('kernels', data.kernels), timeChart];
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

  const kernels = document.getElementById('kernels');
  makeSortable(kernels);
  document.getElementById('search').addEventListener('input', (event) =>
    filterRows(kernels, event.target.value));
  keepDrawn(drawAll);
  ['zoom', 'pan'].forEach((id) => document.getElementById(id).addEventListener('input', () => {
    setWindow(timeChart);
    timeChart.update();
  }));
})();
