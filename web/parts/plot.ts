import uPlot from 'uplot'
import type { Series } from './slo-history.ts'

export type Shape = 'bars' | 'steps'

const height = 160

/** `18:40`, or `11-18` where the axis has several days. */
const timeText = (seconds: number, span: number): string =>
  uPlot.fmtDate(span < 2 * 86_400 ? '{HH}:{mm}' : '{MM}-{DD}')(new Date(seconds * 1000))

/** A plot of one series over time, with the colours of the box. */
export function makePlot(
  box: HTMLElement,
  label: string,
  shape: Shape,
  data: Series,
): { set(data: Series): void; remove(): void } {
  const style = getComputedStyle(box)
  const colour = style.getPropertyValue(shape === 'bars' ? '--busy' : '--good').trim()
  const axis = { stroke: style.color, grid: { stroke: 'rgba(128,128,128,.25)', width: 1 }, ticks: { show: false } }
  const paths = shape === 'bars' ? uPlot.paths.bars!({ size: [0.8, 24] }) : uPlot.paths.stepped!({ align: -1 })
  const aligned = ({ times, values }: Series) => [times, values] as uPlot.AlignedData
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height,
      series: [
        { value: '{YYYY}-{MM}-{DD} {HH}:{mm}' },
        {
          label,
          stroke: colour,
          fill: `${colour}44`,
          width: 2,
          paths,
          points: { show: false },
          value: (_, value) => (value === null ? '' : value.toFixed(2)),
        },
      ],
      axes: [
        { ...axis, values: (_, at) => at.map((seconds) => timeText(seconds, (at.at(-1) ?? 0) - (at[0] ?? 0))) },
        { ...axis, size: 46 },
      ],
      scales: { y: { range: (_, min, max) => [Math.min(0, min), Math.max(1, max * 1.1)] } },
    },
    aligned(data),
    box,
  )
  const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }))
  observer.observe(box)
  return {
    set: (next) => plot.setData(aligned(next)),
    remove() {
      observer.disconnect()
      plot.destroy()
    },
  }
}
