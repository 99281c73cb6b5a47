// SPDX-License-Identifier: Apache-2.0
// Charts of a pipeline plan: the frontier, and what every stage does when.
(function () {
  'use strict';
  const {colour, data, drawFrontier, keepDrawn, mixed, timeRowsOptions} = negawatt;
  const passes = ['forward', 'backward'];
  const ramps = ['core', 'memory'];

  // A pass has its own hue; the higher the clock, the stronger it is.
  function clockColour(pass, mhz) {
    const [low, high] = data.mhz_range;
    return mixed(colour(ramps[pass] + '-low'), colour(ramps[pass] + '-high'),
      high > low ? (mhz - low) / (high - low) : 1);
  }
  function drawStages(id, instructions) {
    const names = data.stages.map((stage) => 'stage ' + stage);
    const options = timeRowsOptions(data.longest_s, (bar) => bar.label);
    const bars = instructions.map(([stage, pass, microbatch, mhz, start, end]) =>
      ({x: [start, end], y: names[stage], mhz: mhz, label: passes[pass] + ' ' + microbatch}));
    return new Chart(document.getElementById(id), {
      type: 'bar',
      data: {labels: names, datasets: [{
        data: bars, grouped: false, borderSkipped: false, borderColor: colour('surface'),
        borderWidth: instructions.length > 2000 ? 0 : 0.75, barPercentage: 1,
        categoryPercentage: 0.8,
        backgroundColor: instructions.map(([, pass, , mhz]) => clockColour(pass, mhz))
      }]},
      options: options
    });
  }
  function drawLegend() {
    const box = document.getElementById('stage-legend');
    box.textContent = '';
    passes.forEach((name, pass) => {
      const list = box.appendChild(document.createElement('ul'));
      list.appendChild(document.createElement('li')).textContent = name;
      const [low, high] = data.mhz_range;
      [low, Math.round((low + high) / 2), high].forEach((mhz) => {
        const item = list.appendChild(document.createElement('li'));
        const swatch = item.appendChild(document.createElement('span'));
        swatch.className = 'swatch';
        swatch.style.background = clockColour(pass, mhz);
        item.appendChild(document.createElement('span')).textContent = mhz + ' MHz';
      });
    });
  }

  keepDrawn(() => {
    ['plan', 'baseline'].forEach((name) => {
      document.getElementById(name + '-box').style.height = 30 * data.stages.length + 70 + 'px';
    });
    drawLegend();
    return [drawFrontier(), drawStages('plan-chart', data.plan),
      drawStages('baseline-chart', data.baseline)];
  });
})();
