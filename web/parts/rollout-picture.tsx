import { useEffect, useRef, useState } from 'preact/hooks'
import { podColumns } from '../../src/dashboard/stream/columns.ts'
import { go, podPath } from '../router.ts'
import { useTopic } from '../use.ts'
import {
  type Cell,
  type CellState,
  type Layout,
  type Palette,
  Places,
  cellStates,
  drawCell,
  layoutFor,
} from './cells.ts'
import { Failure, plural } from './words.tsx'

const names: Readonly<Record<CellState, string>> = {
  available: 'available',
  starting: 'starting',
  waiting: 'held or timed',
  trouble: 'in trouble',
  ending: 'ending',
  finished: 'finished',
}

/** Gaps of removed pods are closed after this time without changes. */
const restMs = 1500

/** The number of cells drawn in one animation frame. */
const cellsPerFrame = 4000

function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(`--cell-${name}`).trim()
  return Object.fromEntries([...cellStates, 'old', 'ground', 'mark'].map((name) => [name, colour(name)])) as Palette
}

/** The index of each column in a row. */
const at = Object.fromEntries(Object.keys(podColumns).map((name, i) => [name, i])) as Record<
  keyof typeof podColumns,
  number
>

const cellOf = (id: number, row: readonly (string | number)[]): Cell => ({
  id,
  name: `${row[at.prefix]}${row[at.suffix]}`,
  state: cellStates[row[at.state] as number]!,
  isOld: row[at.age] === 1,
})

/** Draws cells as they change, a few thousand in each animation frame. */
class Painter {
  readonly places = new Places()
  readonly counts = { old: 0, ...Object.fromEntries(cellStates.map((state) => [state, 0])) } as Record<
    CellState | 'old',
    number
  >
  layout: Layout = { size: 0, columns: 1, height: 0 }
  selected = -1
  readonly #canvas: HTMLCanvasElement
  readonly #waiting = new Set<number>()
  #palette: Palette
  #frame = 0

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas
    this.#palette = paletteOf(canvas)
  }

  set(cell: Cell): void {
    this.#count(cell.id, -1)
    const place = this.places.put(cell)
    this.#known.set(cell.id, cell)
    this.#count(cell.id, 1)
    this.#paint(place)
  }

  remove(id: number): void {
    this.#count(id, -1)
    this.#known.delete(id)
    const place = this.places.remove(id)
    if (place !== undefined) this.#paint(place)
  }

  clear(): void {
    this.places.clear()
    this.#known.clear()
    for (const name of Object.keys(this.counts)) this.counts[name as CellState] = 0
    this.layout = { size: 0, columns: 1, height: 0 }
  }

  /** Closes gaps, which may enlarge the cells. */
  close(): void {
    const size = this.places.cells.length
    for (const place of this.places.close()) this.#paint(place)
    for (let place = this.places.cells.length; place < size; place++) this.#paint(place)
    this.fit()
  }

  /** Fits the picture to the number of pods and the width. Redraws it if the cell size has changed. */
  fit(): void {
    const width = this.#canvas.parentElement!.clientWidth
    const wanted = layoutFor(this.places.cells.length, width)
    if (
      wanted.size === this.layout.size &&
      wanted.columns === this.layout.columns &&
      wanted.height === this.layout.height
    )
      return
    this.layout = wanted
    const ratio = devicePixelRatio
    this.#canvas.width = wanted.columns * wanted.size * ratio
    this.#canvas.height = wanted.height * ratio
    this.#canvas.style.width = `${wanted.columns * wanted.size}px`
    this.#canvas.style.height = `${wanted.height}px`
    this.#context().setTransform(ratio, 0, 0, ratio, 0, 0)
    this.repaint()
  }

  repaint(): void {
    this.#palette = paletteOf(this.#canvas)
    for (let place = 0; place < this.places.cells.length; place++) this.#paint(place)
  }

  cellAt(event: MouseEvent): { place: number; cell: Cell | undefined } {
    const { left, top } = this.#canvas.getBoundingClientRect()
    const { size, columns } = this.layout
    const place =
      Math.floor((event.clientY - top) / size) * columns +
      Math.min(columns - 1, Math.floor((event.clientX - left) / size))
    return { place, cell: this.places.cells[place] }
  }

  select(place: number): void {
    const before = this.selected
    this.selected = place
    this.#paint(before)
    this.#paint(place)
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
  }

  readonly #known = new Map<number, Cell>()

  #count(id: number, by: number): void {
    const cell = this.#known.get(id)
    if (!cell) return
    this.counts[cell.isOld && cell.state === 'available' ? 'old' : cell.state] += by
  }

  #context(): CanvasRenderingContext2D {
    return this.#canvas.getContext('2d', { alpha: true })!
  }

  #paint(place: number): void {
    if (place < 0) return
    this.#waiting.add(place)
    this.#frame ||= requestAnimationFrame(() => this.#draw())
  }

  #draw(): void {
    this.#frame = 0
    const g = this.#context()
    let left = cellsPerFrame
    for (const place of this.#waiting) {
      if (left-- === 0) break
      this.#waiting.delete(place)
      drawCell(g, this.layout, place, this.places.cells[place], this.#palette)
      if (place === this.selected) this.#frameAround(g, place)
    }
    if (this.#waiting.size > 0) this.#frame = requestAnimationFrame(() => this.#draw())
  }

  #frameAround(g: CanvasRenderingContext2D, place: number): void {
    const { size, columns } = this.layout
    g.strokeStyle = getComputedStyle(this.#canvas).color
    g.lineWidth = 2
    g.strokeRect((place % columns) * size + 1, Math.floor(place / columns) * size + 1, size - 3, size - 3)
  }
}

/** The rollout as a picture: a cell for each pod, by revision and state. */
export function RolloutPicture({ of, namespace }: { of: string; namespace: string }) {
  const topic = useTopic(`pods ${of}`, 500)
  const canvas = useRef<HTMLCanvasElement>(null)
  const painter = useRef<Painter | undefined>(undefined)
  const [hover, setHover] = useState<Cell | undefined>(undefined)
  const isRefused = topic.error !== undefined
  useEffect(() => {
    // A refused topic has no canvas. It gets a new one when the topic is granted.
    if (!canvas.current) return undefined
    const paint = (painter.current = new Painter(canvas.current))
    let rest: ReturnType<typeof setTimeout> | undefined
    const changed = (ids: readonly number[] | undefined) => {
      if (!ids) paint.clear()
      const { rows } = topic.mirror
      for (const id of ids ?? rows.keys()) {
        const values = rows.get(id)
        if (values) paint.set(cellOf(id, values))
        else paint.remove(id)
      }
      paint.fit()
      clearTimeout(rest)
      rest = setTimeout(() => paint.close(), restMs)
    }
    changed(undefined)
    topic.listeners.add(changed)
    const observer = new ResizeObserver(() => paint.fit())
    observer.observe(canvas.current.parentElement!)
    const recolour = () => paint.repaint()
    addEventListener('coxswain-theme', recolour)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', recolour)
    return () => {
      paint.stop()
      painter.current = undefined
      clearTimeout(rest)
      topic.listeners.delete(changed)
      observer.disconnect()
      removeEventListener('coxswain-theme', recolour)
      dark.removeEventListener('change', recolour)
    }
  }, [topic, isRefused])
  const counts = painter.current?.counts
  const size = topic.mirror.rows.size
  const key = (e: KeyboardEvent) => {
    const paint = painter.current
    const step = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: paint?.layout.columns ?? 0,
      ArrowUp: -(paint?.layout.columns ?? 0),
    }[e.key]
    if (!paint) return
    if (e.key === 'Enter' && paint.places.cells[paint.selected])
      go(podPath(namespace, paint.places.cells[paint.selected]!.name))
    if (step === undefined) return
    e.preventDefault()
    e.stopPropagation()
    paint.select(Math.max(0, Math.min(paint.places.cells.length - 1, paint.selected + step)))
    setHover(paint.places.cells[paint.selected])
  }
  if (topic.error) return <Failure code={topic.error.code} error={topic.error.message} what="its pods" />
  return (
    <div class="picture">
      <div class="canvas">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          data-pods={size}
          aria-label={`${plural(size, 'pod')}: ${cellStates
            .filter((state) => counts?.[state])
            .map((state) => `${counts![state]} ${names[state]}`)
            .join(', ')}${counts?.old ? `, ${counts.old} of an old revision` : ''}`}
          onMouseMove={(e) => setHover(painter.current?.cellAt(e).cell)}
          onMouseLeave={() => setHover(undefined)}
          onClick={(e) => {
            const cell = painter.current?.cellAt(e).cell
            if (cell) go(podPath(namespace, cell.name))
          }}
          onKeyDown={key}
        />
      </div>
      <div class="legend">
        {cellStates
          .filter((state) => counts?.[state])
          .map((state) => (
            <span key={state} class={`key ${state}`}>
              <i aria-hidden="true" />
              {counts![state].toLocaleString('en')} {names[state]}
            </span>
          ))}
        {counts && counts.old > 0 && (
          <span class="key old">
            <i aria-hidden="true" />
            {counts.old.toLocaleString('en')} available, old revision
          </span>
        )}
        <span class="tip" role="status">
          {hover
            ? `${hover.name}: ${names[hover.state]}${hover.isOld ? ', old revision' : ''}`
            : topic.mirror.isWhole && size === 0
              ? 'It has no pods.'
              : ''}
        </span>
      </div>
    </div>
  )
}
