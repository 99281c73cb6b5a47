// SPDX-License-Identifier: Apache-2.0
// Charts of a comparison of runs: what was promised and achieved, with the best static pair and the
// bound across each run, and standard errors as whiskers.
(function () {
  'use strict';
  const {axis, baseOptions, colour, data, keepDrawn, nameAxis, shortened, signed} = negawatt;

  // Chart.js has no error bars: a line from one standard error below to one above.
  const whiskers = {
    id: 'whiskers',
    afterDatasetsDraw: (chart) => {
      const context = chart.ctx;
      context.save();
      context.strokeStyle = colour('text');
      context.lineWidth = 1.5;
      chart.data.datasets.forEach((set, at) => {
        if (!set.errors || !chart.isDatasetVisible(at)) return;
        chart.getDatasetMeta(at).data.forEach((bar, run) => {
          const error = set.errors[run];
          if (error === null || set.data[run] === null) return;
          const low = chart.scales.y.getPixelForValue(set.data[run] - error);
          const high = chart.scales.y.getPixelForValue(set.data[run] + error);
          const half = Math.min(5, bar.width / 3);
          context.beginPath();
          [low, high].forEach((y) => {
            context.moveTo(bar.x - half, y);
            context.lineTo(bar.x + half, y);
          });
          context.moveTo(bar.x, low);
          context.lineTo(bar.x, high);
          context.stroke();
        });
      });
      context.restore();
    }
  };

  function bars(label, values, name, errors) {
    return {
      type: 'bar', label: label, data: values, errors: errors, backgroundColor: colour(name),
      borderColor: colour('plan'), borderWidth: 1, barPercentage: 0.9, categoryPercentage: 0.62, maxBarThickness: 44, order: 2
    };
  }
  // A level of a run: a line as wide as its place on the axis.
  function levels(label, values, name, width) {
    const reach = (context) => {
      const area = context.chart.chartArea;
      return area ? 0.43 * (area.right - area.left) / data.runs.length : 10;
    };
    return {
      type: 'line', label: label, data: values, showLine: false, pointStyle: 'line',
      pointRadius: reach, pointHoverRadius: reach, pointHitRadius: 4, borderWidth: width,
      pointHoverBorderWidth: width, pointBorderWidth: width, borderColor: colour(name),
      backgroundColor: colour(name), clip: false, order: 1
    };
  }
  function draw(id, what) {
    const sets = [bars('promised', what.promised, 'saved'),
      bars('achieved', what.achieved, 'plan', what.errors)];
    const has = (values) => values.some((value) => value !== null);
    if (has(what.best_static)) sets.push(levels('best static pair', what.best_static, 'static', 3));
    if (has(what.bound)) sets.push(levels('lower bound', what.bound, 'text', 1.5));
    const options = baseOptions();
    options.interaction = {mode: 'index', intersect: false};
    options.scales = {
      x: nameAxis({ticks: {
        color: colour('text'), autoSkip: false, maxRotation: 60,
        callback: (value, index) => shortened(data.runs[index], 18)}}),
      y: axis('', {beginAtZero: true, grace: '6%'})
    };
    options.scales.y.grid = {
      borderColor: colour('line'),
      color: (context) => colour(context.tick && context.tick.value === 0 ? 'muted' : 'grid')
    };
    options.plugins.legend.position = 'bottom';
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? shortened(data.runs[items[0].dataIndex], 60) : '',
      label: (item) => {
        const error = item.dataset.errors ? item.dataset.errors[item.dataIndex] : null;
        return item.dataset.label + ' ' + signed(item.raw) +
          (error === null ? '' : ' \u00b1 ' + error.toFixed(2));
      }
    };
    return new Chart(document.getElementById(id + '-chart'), {
      type: 'bar', data: {labels: data.runs, datasets: sets}, options: options,
      plugins: [whiskers]
    });
  }

  keepDrawn(() => [draw('energy', data.energy), draw('time', data.time)]);
})();
