// SPDX-License-Identifier: Apache-2.0
// Energy against p99 latency: policies, their front and the bound. Labels do not overlap.
const drawPareto = (function () {
  'use strict';
  const {baseOptions, colour, data, shortened} = negawatt;
  const {energyAxis, isNarrow, joules, names, seconds, secondsAxis} = serving;

  // Energy against p99. Labels take the first free place around their point.
  function overlaps(a, b) {
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
  }
  function placesAround(point, w, h) {
    const places = [];
    [9, 22, 38, 56, 76, 100].forEach((away) => {
      [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 1], [-1, -1], [-1, 1]].forEach(([dx, dy]) => {
        const side = dx === 0 ? -w / 2 : dx > 0 ? away : -away - w;
        const level = dy === 0 ? -h / 2 : dy > 0 ? away * 0.6 : -away * 0.6 - h;
        places.push({x: point.x + side, y: point.y + level, w: w, h: h, away: away});
      });
    });
    return places;
  }
  function free(place, area, taken) {
    return place.x >= area.left && place.x + place.w <= area.right && place.y >= area.top &&
      place.y + place.h <= area.bottom && !taken.some((other) => overlaps(place, other));
  }
  function drawLabel(context, point, place, text) {
    if (place.away > 20) {
      context.strokeStyle = colour('faint');
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(point.x, point.y);
      context.lineTo(Math.min(Math.max(point.x, place.x), place.x + place.w),
        Math.min(Math.max(point.y, place.y), place.y + place.h));
      context.stroke();
    }
    context.fillStyle = colour('text');
    context.fillText(text, place.x, place.y + place.h / 2);
  }
  // Where the staircase of the front runs, so that no label lies on it.
  function frontBoxes(chart) {
    const at = chart.data.datasets.findIndex((set) => set.stepped);
    const corners = chart.getDatasetMeta(at).data;
    return corners.slice(1).flatMap((corner, i) => {
      const from = corners[i];
      const high = Math.min(from.y, corner.y);
      return [{x: from.x, y: from.y - 2, w: corner.x - from.x, h: 4},
        {x: corner.x - 2, y: high, w: 4, h: Math.abs(from.y - corner.y)}];
    });
  }
  const pointLabels = {
    id: 'pointLabels',
    afterDatasetsDraw: (chart) => {
      const context = chart.ctx;
      const points = [];
      chart.data.datasets.forEach((set, at) => {
        if (!set.places || !chart.isDatasetVisible(at)) return;
        chart.getDatasetMeta(at).data.forEach((element, i) =>
          points.push({x: element.x, y: element.y, place: set.places[i]}));
      });
      const taken = points.map((point) => ({x: point.x - 6, y: point.y - 6, w: 12, h: 12}))
        .concat(frontBoxes(chart));
      context.save();
      context.font = '12px system-ui, sans-serif';
      context.textBaseline = 'middle';
      points.sort((a, b) => a.place - b.place).forEach((point) => {
        const text = isNarrow(chart) ? String(point.place + 1)
          : point.place + 1 + ' ' + shortened(names[point.place], 34);
        const around = placesAround(point, context.measureText(text).width + 2, 15);
        const place = around.find((each) => free(each, chart.chartArea, taken));
        if (!place) return;
        taken.push(place);
        drawLabel(context, point, place, text);
      });
      context.restore();
    }
  };
  function paretoPoints(standing, label, style) {
    const places = data.policies.map((policy, at) => at)
      .filter((at) => data.policies[at].standing === standing && data.policies[at].served);
    return Object.assign({
      label: label, places: places, pointRadius: 6, pointHoverRadius: 8, borderWidth: 2, order: 1,
      data: places.map((at) => ({x: data.policies[at].p99_s, y: data.policies[at].energy_j}))
    }, style);
  }
  function paretoSets(range) {
    const sets = [
      paretoPoints('keeps', data.has_slo ? 'meets the SLO' : 'serves the requests',
        {backgroundColor: colour('plan'), borderColor: colour('plan')}),
      paretoPoints('breaks', data.has_slo ? 'breaks the SLO' : 'leaves requests unserved',
        {backgroundColor: colour('surface'), borderColor: colour('muted')}),
      paretoPoints('clairvoyant', 'knows the answers\u2019 lengths',
        {backgroundColor: colour('surface'), borderColor: colour('global'), pointStyle: 'rectRot', order: 0})
    ].filter((set) => set.places.length > 0);
    const front = data.front.map((at) =>
      ({x: data.policies[at].p99_s, y: data.policies[at].energy_j}));
    const last = front[front.length - 1];
    if (last) front.push({x: range[1], y: last.y});
    sets.push({
      label: 'front', showLine: true, stepped: true, data: front, pointRadius: 0, pointStyle: 'line',
      pointHitRadius: 0, borderWidth: 2, borderColor: colour('plan'), order: 3
    });
    if (data.bound_j > 0) {
      sets.push({
        label: 'lower bound ' + joules(data.bound_j), showLine: true, pointRadius: 0,
        pointHitRadius: 0, pointStyle: 'line', borderWidth: 1.5, borderDash: [5, 4],
        borderColor: colour('text'), order: 4,
        data: range.map((x) => ({x: x, y: data.bound_j}))
      });
    }
    return sets;
  }
  return function () {
    const served = data.policies.filter((policy) => policy.served);
    if (served.length === 0) return null;
    const x = secondsAxis(served.map((policy) => policy.p99_s), 'p99 latency to the last token');
    const options = baseOptions();
    options.layout = {padding: {top: 8}};
    options.scales = {x: x.scale, y: energyAxis('energy', {type: 'linear', grace: '8%'})};
    options.plugins.legend.position = 'bottom';
    options.plugins.tooltip.callbacks = {
      title: (items) => items.length > 0 && items[0].dataset.places
        ? shortened(names[items[0].dataset.places[items[0].dataIndex]], 60) : '',
      label: (item) => [joules(item.raw.y), 'p99 ' + seconds(item.raw.x)]
    };
    return new Chart(document.getElementById('pareto-chart'), {
      type: 'scatter', data: {datasets: paretoSets(x.range)}, options: options,
      plugins: [pointLabels]
    });
  };
})();
