import uPlot from 'uplot'

const strokes = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9']
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 4], [1, 2]]

/** A plot of burn rates over time; each window has a colour and a dash of its own. */
export function makePlot(box: HTMLElement, windows: readonly string[], data: (number | null)[][]): { setData(data: (number | null)[][]): void } {
  const { color } = getComputedStyle(box)
  const axis = { stroke: color, grid: { stroke: 'rgba(128,128,128,.25)', width: 1 }, ticks: { show: false } }
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: 180,
      series: [{}, ...windows.map((window, i) => ({ label: `burn rate ${window}`, stroke: strokes[i % strokes.length]!, dash: dashes[i % dashes.length]!, width: 2, points: { show: data[0]!.length < 3 } }))],
      axes: [axis, axis],
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    },
    data as uPlot.AlignedData,
    box,
  )
  new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 180 })).observe(box)
  return { setData: (next) => plot.setData(next as uPlot.AlignedData) }
}
