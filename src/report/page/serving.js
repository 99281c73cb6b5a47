// SPDX-License-Identifier: Apache-2.0
// Charts of simulated policies: latency distributions, who ran what, and how it all changes with
// lambda, load and cluster.
(function () {
  'use strict';
  const {axis, baseOptions, colour, data, groupColours, keepDrawn, nameAxis, shortened} = negawatt;
  const {energyAxis, joules, lineColour, lineDash, lineLegend, names, numbered, percent, pick,
    placeOf, seconds, secondsAxis} = serving;

  // Latency distributions: an axis on which every further nine is as wide.
  const nines = (share) => -Math.log10(1 - share);
  // What breaks the SLO waits so long that nothing else can be read: it is hidden at first.
  const readable = names.map((name, at) => at)
    .filter((at) => data.policies[at].keeps);
  const shown = new Set((readable.length > 0 ? readable : names.map((name, at) => at)).slice(0, 12));
  function shownSecondsAxis(key) {
    const values = data.policies.filter((policy, at) => shown.has(at))
      .flatMap((policy) => policy[key]).filter((value) => value > 0);
    return secondsAxis(values.length > 0 ? values : [1], '').scale;
  }
  function latencyKey() {
    return document.querySelector('input[name=latency]:checked').value;
  }
  function latencySet(policy, at, key) {
    return {
      label: names[at], hidden: !shown.has(at), pointRadius: 0, pointHitRadius: 6, borderWidth: 2,
      borderColor: lineColour(at), backgroundColor: lineColour(at), borderDash: lineDash(at),
      borderJoinStyle: 'round',
      data: policy[key].map((value, i) => ({x: nines(data.shares[i]), y: value}))
        .filter((point) => point.y > 0)
    };
  }
  function drawLatency() {
    const key = latencyKey();
    const ticks = [0, 0.5, 0.9, 0.95, 0.99, 0.999];
    const options = baseOptions();
    options.interaction = {mode: 'nearest', intersect: false};
    options.scales = {
      x: axis('share of values', {type: 'linear', min: 0, max: nines(0.999)}),
      y: shownSecondsAxis(key)
    };
    options.scales.x.afterBuildTicks = (scale) => {
      scale.ticks = ticks.map((share) => ({value: nines(share)}));
    };
    options.scales.x.ticks = {color: colour('muted'), autoSkip: false, maxRotation: 0,
      callback: (value) => percent(100 * (1 - Math.pow(10, -value)))};
    options.plugins.legend.display = false;
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? shortened(items[0].dataset.label, 60) : '',
      label: (item) => percent(100 * (1 - Math.pow(10, -item.raw.x))) + ' within ' +
        seconds(item.raw.y)
    };
    const chart = new Chart(document.getElementById('latency-chart'), {
      type: 'line', options: options,
      data: {datasets: data.policies.map((policy, at) => latencySet(policy, at, key))}
    });
    lineLegend('latency-legend', names.map((name, at) =>
      ({place: at, text: at + 1 + ' ' + shortened(name, 40)})), {
      isShown: (at) => shown.has(at),
      flip: (at) => {
        if (!shown.delete(at)) shown.add(at);
        chart.setDatasetVisibility(at, shown.has(at));
        chart.options.scales.y = shownSecondsAxis(key);
        chart.update();
      }
    });
    return chart;
  }

  // Who ran what. Blocks of one device type have its colour.
  const types = [...new Set(data.work.map((part) => part.type))];
  function drawWorkLegend() {
    const list = document.createElement('ul');
    types.forEach((type, at) => {
      const item = list.appendChild(document.createElement('li'));
      const swatch = item.appendChild(document.createElement('span'));
      swatch.className = 'swatch';
      swatch.style.background = pick(groupColours, at);
      const count = data.work.filter((part) => part.type === type).length;
      item.appendChild(document.createElement('span')).textContent =
        type + (count > 1 ? ', ' + count + ' instances' : '');
    });
    document.getElementById('work-legend').replaceChildren(list);
  }
  function drawWork(id, key, hasNames) {
    const canvas = document.getElementById(id + '-chart');
    const isStacked = document.documentElement.clientWidth <= 900 &&
      !('print' in document.documentElement.dataset);
    const options = baseOptions();
    const isEnergy = key === 'energy_j';
    options.indexAxis = 'y';
    options.interaction = {mode: 'nearest', intersect: true};
    options.scales = {
      x: isEnergy ? energyAxis('', {stacked: true}) : axis('', {stacked: true, max: 100}),
      y: nameAxis({stacked: true, ticks: {
        color: colour('text'), autoSkip: false, font: {size: 11},
        callback: (value, at) => at + 1 +
          (hasNames || isStacked ? ' ' + shortened(names[at], 24) : '')}})
    };
    options.scales.x.ticks.maxRotation = 0;
    options.plugins.legend.display = false;
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? shortened(names[items[0].dataIndex], 60) : '',
      label: (item) => item.dataset.label + ' ' + (isEnergy ? joules(item.raw) : percent(item.raw))
    };
    return new Chart(canvas, {
      type: 'bar', options: options,
      data: {labels: names, datasets: data.work.map((part) => ({
        label: part.name, data: part[key], backgroundColor: pick(groupColours,
          types.indexOf(part.type)),
        borderColor: colour('surface'), borderWidth: {right: 1}, borderSkipped: false,
        barPercentage: 0.86, categoryPercentage: 0.92, maxBarThickness: 26
      }))}
    });
  }
  function drawAllWork() {
    document.querySelectorAll('.policies').forEach((box) => {
      box.style.height = 26 * Math.max(names.length, 2) + 42 + 'px';
    });
    drawWorkLegend();
    return [drawWork('requests', 'requests_pct', true), drawWork('tokens', 'tokens_pct', false),
      drawWork('energy', 'energy_j', false)];
  }

  // Sensitivity.
  const axisTitles = {lambda: 'lambda', speed: 'speed', cluster: ''};
  const metrics = {
    energy: {scale: () => energyAxis('', {beginAtZero: true, grace: '6%'}), text: joules},
    p99: {
      scale: (lines) => secondsAxis(
        lines.flatMap((line) => line.points.map((point) => point.p99 || 0)), '').scale,
      text: seconds
    },
    slo: {
      scale: (lines) => {
        const low = Math.min(data.demanded_pct,
          ...lines.flatMap((line) => line.points.map((point) => point.slo)));
        const span = Math.max(100 - low, 1);
        return axis('', {min: Math.max(0, low - 0.08 * span), max: 100 + 0.04 * span});
      },
      text: percent
    }
  };
  function xAxisOf(what) {
    if (what !== 'cluster') return axis(axisTitles[what], {type: 'linear'});
    return nameAxis({type: 'category', labels: data.clusters, offset: true, ticks: {
      color: colour('text'), autoSkip: false, maxRotation: 60,
      callback: (value, at) => shortened(data.clusters[at], 16)}});
  }
  function demandedSet(lines) {
    const xs = lines.flatMap((line) => line.points.map((point) => point.x));
    return {
      label: 'demanded', pointRadius: 0, pointHitRadius: 0, borderWidth: 1.5, borderDash: [5, 4],
      borderColor: colour('text'), order: 9,
      data: [...new Set(xs)].map((x) => ({x: x, y: data.demanded_pct}))
    };
  }
  function drawMetric(what, metric, lines, placeOfLine) {
    const canvas = document.getElementById(what + '-' + metric);
    if (!canvas) return null;
    const sets = lines.map((line, at) => {
      const place = placeOfLine(line, at);
      return {
        label: line.name, borderColor: lineColour(place), backgroundColor: lineColour(place),
        borderDash: lineDash(place), borderWidth: 2, pointRadius: 3, pointHoverRadius: 5,
        data: line.points.filter((point) => point[metric] !== null)
          .map((point) => ({x: point.x, y: point[metric]}))
      };
    });
    if (metric === 'slo') sets.push(demandedSet(lines));
    const options = baseOptions();
    options.interaction = {mode: 'nearest', intersect: false};
    options.scales = {x: xAxisOf(what), y: metrics[metric].scale(lines)};
    options.plugins.legend.display = false;
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 ? shortened(items[0].dataset.label, 60) : '',
      label: (item) => [axisTitles[what] + ' ' + item.raw.x, metrics[metric].text(item.raw.y)]
    };
    return new Chart(canvas, {type: 'line', data: {datasets: sets}, options: options});
  }
  function drawSensitivity(what) {
    const lines = data.sensitivity[what];
    if (!lines) return [];
    const others = lines.map((line) => line.name).filter((name) => !names.includes(name));
    const placeOfLine = (line, at) => what === 'lambda' ? at : placeOf(line.name, others);
    lineLegend(what + '-legend', lines.map((line, at) => {
      const place = placeOfLine(line, at);
      return {place: place,
        text: (what === 'lambda' ? '' : numbered(place)) + shortened(line.name, 40)};
    }));
    return Object.keys(metrics).map((metric) => drawMetric(what, metric, lines, placeOfLine));
  }

  let latencyChart = null;
  document.querySelectorAll('input[name=latency]').forEach((input) =>
    input.addEventListener('change', () => {
      latencyChart.destroy();
      latencyChart = drawLatency();
    }));
  keepDrawn(() => {
    if (latencyChart) latencyChart.destroy();
    latencyChart = drawLatency();
    return [drawPareto(), ...drawAllWork(), ...Object.keys(axisTitles).flatMap(drawSensitivity)]
      .filter((chart) => chart !== null);
  });
})();
