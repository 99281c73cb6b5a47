// SPDX-License-Identifier: Apache-2.0
// What the charts of simulated policies share: their names, numbers, colours and axes. A policy has
// its number and colour in every chart.
const serving = (function () {
  'use strict';
  const {axis, colour, data, groupColours, significant} = negawatt;
  const names = data.policies.map((policy) => policy.name);
  const dashes = [[], [7, 3], [2, 3], [8, 3, 2, 3]];

  // Words and styles.
  function seconds(value) {
    return value >= 1000 ? Math.round(value).toLocaleString('en-US') + '\u00a0s'
      : significant(value, 's');
  }
  const joules = (value) => significant(value, 'J');
  const percent = (value) => Number(value.toFixed(2)) + '\u00a0%';
  const isNarrow = (chart) => chart.width < 640;
  const pick = (list, at) => list[at % list.length];
  function lineColour(at) {
    return pick(groupColours, at);
  }
  function lineDash(at) {
    return pick(dashes, Math.floor(at / groupColours.length));
  }
  // Of a policy anywhere: those that the first setting lacks come behind its own.
  function placeOf(name, others) {
    const place = names.indexOf(name);
    return place >= 0 ? place : names.length + others.indexOf(name);
  }
  const numbered = (place) => (place < names.length ? place + 1 + ' ' : '');

  // A list of lines and their names; one that is clicked is hidden or shown.
  function lineLegend(id, entries, toggle) {
    const list = document.createElement('ul');
    entries.forEach((entry) => {
      const item = list.appendChild(document.createElement('li'));
      const box = toggle ? item.appendChild(document.createElement('button')) : item;
      const swatch = box.appendChild(document.createElement('span'));
      swatch.className = 'stroke';
      swatch.style.borderTopColor = lineColour(entry.place);
      swatch.style.borderTopStyle = pick(['solid', 'dashed', 'dotted', 'dashed'],
        Math.floor(entry.place / groupColours.length));
      box.appendChild(document.createElement('span')).textContent = entry.text;
      if (toggle) {
        box.type = 'button';
        box.setAttribute('aria-pressed', String(toggle.isShown(entry.place)));
        box.addEventListener('click', () => {
          toggle.flip(entry.place);
          box.setAttribute('aria-pressed', String(toggle.isShown(entry.place)));
        });
      }
    });
    document.getElementById(id).replaceChildren(list);
  }

  // Latencies that differ by more than this factor are drawn on a logarithmic axis.
  const wide = 12;
  function secondsAxis(values, title) {
    const known = values.filter((value) => value > 0);
    const low = Math.min(...known);
    const high = Math.max(...known);
    const isLog = high > wide * low;
    const range = isLog ? [low / 1.3, high * 1.5]
      : [Math.max(0, low - 0.12 * (high - low || low)), high + 0.18 * (high - low || high)];
    const scale = axis(title, {type: isLog ? 'logarithmic' : 'linear', min: range[0], max: range[1]});
    scale.ticks = {color: colour('muted'), includeBounds: false, maxRotation: 0,
      callback: function (value) {
        const lead = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        const rounds = this.isHorizontal() && isNarrow(this.chart) ? [1] : [1, 2, 5];
        const isRound = rounds.some((round) => Math.abs(lead - round) < 1e-6);
        return isLog && !isRound ? null : seconds(value);
      }};
    return {scale: scale, range: range};
  }
  function energyAxis(title, more) {
    const scale = axis(title, more);
    scale.ticks = {color: colour('muted'), includeBounds: false, callback: (value) => joules(value)};
    return scale;
  }

  return {energyAxis, isNarrow, joules, lineColour, lineDash, lineLegend, names, numbered, percent,
    pick, placeOf, seconds, secondsAxis};
})();
