// SPDX-License-Identifier: Apache-2.0
// What the charts of all reports share: numbers in words, colours of the theme, the frontier chart,
// and drawing again when the theme changes or the page is printed.
// Text of the user's file reaches the document through textContent and Chart.js (canvas) only.
const negawatt = (function () {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const minus = '\u2212';

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
  const groupColours =
    ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8a8f98'];
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
        legend: {labels: {
          color: colour('text'), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 14
        }},
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

  // An axis of names.
  function nameAxis(more) {
    return Object.assign({
      grid: {display: false, borderColor: colour('line')}, ticks: {color: colour('text')}
    }, more);
  }
  // Rows of floating bars over the time of an iteration, one row per name.
  function timeRowsOptions(longest, title) {
    const options = baseOptions();
    options.indexAxis = 'y';
    options.interaction = {mode: 'nearest', intersect: true};
    options.scales = {
      x: axis('time in the iteration', {type: 'linear', min: 0, max: longest}), y: nameAxis()
    };
    options.scales.x.ticks = {
      color: colour('muted'), maxRotation: 0, includeBounds: false,
      callback: (value) => significant(value, 's')
    };
    options.plugins.legend.display = false;
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? title(items[0].raw) : '',
      label: (item) => {
        const [from, to] = item.raw.x;
        const at = item.raw.mhz === undefined ? '' : ' at ' + item.raw.mhz + '\u00a0MHz';
        return [item.raw.y + at + ' for ' + significant(to - from, 's'),
          'from ' + significant(from, 's') + ' to ' + significant(to, 's')];
      }
    };
    return options;
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
      data: [{
        x: mark.at[0], y: mark.at[1], title: mark.name, time: mark.time, energy: mark.energy
      }],
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
        borderWidth: 2, borderJoinStyle: 'round', borderColor: colour('plan'),
        backgroundColor: colour('plan')
      });
    }
    if (data.bound_line && data.bound_line.length > 0) {
      sets.push({
        label: 'lower bound for every time', showLine: true, tension: 0,
        data: data.bound_line.map(([x, y]) => ({x: x, y: y, title: 'lower bound'})),
        pointStyle: 'line', pointRadius: 0, pointHitRadius: 5, borderDash: [4, 4],
        borderWidth: 1.5, borderColor: colour('muted'), backgroundColor: colour('muted')
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
    const beyond = goesOn ? Math.max(6, span) : 0.5 * span;
    const end = Math.max(right, ...data.frontier.map(([x]) => x));
    const range = {left: left - 0.25 * span, right: Math.min(right + beyond, end + 0.5 * span)};
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
  // Draws the points of `data`; the radio buttons named `range` choose what is seen.
  function drawFrontier() {
    const chart = new Chart(document.getElementById('frontier-chart'), {
      type: 'scatter', data: {datasets: frontierDatasets()}, options: frontierOptions()
    });
    setRange(chart, checkedRange());
    chart.update();
    return chart;
  }

  // Calls draw(), which returns its charts (the frontier first), now and whenever colours or the
  // width of the page change.
  function keepDrawn(draw) {
    let charts = [];
    const again = () => {
      charts.forEach((chart) => chart.destroy());
      charts = draw();
    };
    document.querySelectorAll('input[name=range]').forEach((input) =>
      input.addEventListener('change', () => {
        setRange(charts[0], input.value);
        charts[0].update();
      }));
    dark.addEventListener('change', again);
    // On paper: light colours, and canvases at the width of the page.
    window.addEventListener('beforeprint', () => {
      document.documentElement.dataset.print = '';
      again();
    });
    window.addEventListener('afterprint', () => {
      delete document.documentElement.dataset.print;
      again();
    });
    again();
  }

  return {axis, baseOptions, colour, data, drawFrontier, groupColours, keepDrawn, mixed, nameAxis,
    shortened, signed, significant, timeRowsOptions};
})();
